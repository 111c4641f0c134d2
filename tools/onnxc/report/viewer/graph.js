// The model and its steps side by side: what is chosen in one shows its counterparts in the other.
'use strict';

/// Steps that each node of the model became, and back. Nodes are found by the name of their first output; that of the outermost graph wins.
const counterparts = (() => {
  const nodeOf = new Map();
  data.graphs.model.nodes.forEach((node, i) => {
    const name = node.outputs?.[0]?.name;
    if (name !== undefined && !nodeOf.has(name)) nodeOf.set(name, i);
  });
  const stepsOf = data.graphs.model.nodes.map(() => []);
  const nodesOf = data.steps.map(step => {
    const nodes = step.origins.map(origin => nodeOf.get(origin.output)).filter(i => i !== undefined);
    return [...new Set(nodes)];
  });
  nodesOf.forEach((nodes, step) => nodes.forEach(node => stepsOf[node].push(step)));
  return {stepsOf, nodesOf};
})();

/// The node of the second graph that is a step, and nodes of the border by kind and name, as both graphs have them.
const nodeOfStep = [];
data.graphs.steps.nodes.forEach((node, i) => {
  if (node.step !== undefined) nodeOfStep[node.step] = i;
});
const borderNodes = graph => new Map(graph.nodes.map((node, i) => [node.kind + ' ' + node.name, i]));

/// What is chosen: a node of 'model' or of 'steps'. Pages ask to be told.
const selection = {
  listeners: [],
  set(view, node) {
    for (const listener of this.listeners) listener(view, node);
  },
  step(number) {
    location.hash = 'graph';
    setTimeout(() => this.set('steps', nodeOfStep[number]));
  },
};

for (const node of data.graphs.model.nodes) node.family = node.kind === 'node' ? family(node.title) : 'border';
for (const node of data.graphs.steps.nodes) node.family = node.kind === 'step' ? family(data.steps[node.step].label) : 'border';

const measured = new Map((data.profile?.steps ?? []).map(step => [step.number - 1, step]));
const measuredNs = step => measured.get(step.number - 1)?.mean_ns;

/// Where a node of one graph is in the other.
function others(view, node) {
  const graph = data.graphs[view].nodes[node];
  if (graph.kind === 'input' || graph.kind === 'output') {
    const other = borderNodes(data.graphs[view === 'model' ? 'steps' : 'model']).get(graph.kind + ' ' + graph.name);
    return other === undefined ? [] : [other];
  }
  return view === 'model' ? counterparts.stepsOf[node].map(step => nodeOfStep[step]) : counterparts.nodesOf[graph.step];
}

function describeNode(view, i) {
  const node = data.graphs[view].nodes[i];
  if (node.kind === 'step') {
    const step = data.steps[node.step];
    return `${short(step.what, 240)}\n${[step.macs ? count(step.macs) + ' MACs' : '', duration(step.cost_ns || NaN)].filter(Boolean).join(', ')}`
        .trim();
  }
  return [node.title, node.name !== node.title ? short(node.name, 160) : '', short(node.subtitle, 160)].filter(Boolean).join('\n');
}

function buildGraph(section) {
  const views = {}, side = element('aside', {class: 'details'});
  const make = (view, label) =>
      new GraphCanvas(data.graphs[view], label, {select: node => choose(view, node), describe: node => describeNode(view, node)});
  const nodes = data.graphs.model.nodes.filter(node => node.kind === 'node').length;
  views.model = make('model', `the model: ${plural(nodes, 'node')}`);
  views.steps = make('steps', `the program: ${plural(data.steps.length, 'step')}`);

  const choose = (view, node) => {
    const other = view === 'model' ? 'steps' : 'model', found = node < 0 ? [] : others(view, node);
    views[view].mark(node, new Map());
    views[other].mark(-1, new Map(found.map(i => [i, 'other'])));
    views[other].reveal(found);
    if (node < 0)
      side.replaceChildren(...hint());
    else
      side.replaceChildren(...details(view, node));
    side.scrollTop = 0;
  };
  selection.listeners.push((view, node) => {
    choose(view, node);
    views[view].reveal([node]);
  });

  // Search: in titles, names, types and values; Enter goes to the next.
  const search = element('input', {type: 'search', placeholder: 'Search operators, names, kernels', 'aria-label': 'Search'}),
        hits = element('span', {class: 'faint'});
  let found = [], at = -1;
  const texts = Object.fromEntries(Object.entries(data.graphs)
                                       .map(
                                           ([view, graph]) =>
                                               [view,
                                                graph.nodes.map(
                                                    node => [node.title, node.name, node.subtitle, ...(node.outputs ?? []).map(output => output.name),
                                                             node.step === undefined ? '' : data.steps[node.step].what]
                                                                .join('\n')
                                                                .toLowerCase())]));
  search.addEventListener('input', () => {
    const wanted = search.value.trim().toLowerCase();
    found = [];
    at = -1;
    for (const view of ['model', 'steps']) {
      const matches = wanted ? texts[view].flatMap((text, i) => text.includes(wanted) ? [i] : []) : [];
      found.push(...matches.map(i => [view, i]));
      views[view].mark(-1, new Map(matches.map(i => [i, 'found'])));
      if (matches.length) views[view].reveal(matches);
    }
    hits.textContent = wanted ? plural(found.length, 'match').replace(/hs$/, 'hes') : '';
  });
  search.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || !found.length) return;
    at = (at + (event.shiftKey ? found.length - 1 : 1)) % found.length;
    hits.textContent = `${at + 1} of ${found.length}`;
    selection.set(...found[at]);
  });

  // Colours by family, or by time.
  const times = {predicted: step => step.cost_ns, measured: step => number(measuredNs(step))};
  const colour = element(
      'select', {
        'aria-label': 'Colours',
        change: () => {
          const time = times[colour.value];
          const most = time ? Math.max(1e-9, ...data.steps.map(time)) : 1;
          views.steps.heat = time ? data.graphs.steps.nodes.map(node => node.kind === 'step' ? time(data.steps[node.step]) / most : 0) : null;
          views.model.heat = time ?
              data.graphs.model.nodes.map(
                  (node, i) => (counterparts.stepsOf[i] ?? []).reduce((sum, step) => Math.max(sum, time(data.steps[step]) / most), 0)) :
              null;
          legend.hidden = !!time;
          views.model.changed();
          views.steps.changed();
        }
      },
      element('option', {value: 'family'}, 'coloured by family'), element('option', {value: 'predicted'}, 'by predicted time'));
  if (measured.size) colour.append(element('option', {value: 'measured'}, 'by measured time'));
  const legend = element(
      'span', {class: 'legend'},
      ...Object.entries(families).map(([name, text]) => element('span', {}, element('i', {style: `background: var(--${name})`}), text)));
  const fit = element(
      'button', {
        title: 'Both graphs whole (0)',
        click: () => {
          views.model.fit();
          views.steps.fit();
        }
      },
      'Whole');
  const start = element(
      'button', {
        title: 'Both graphs from their inputs',
        click: () => {
          views.model.start();
          views.steps.start();
        }
      },
      'Start');
  section.append(
      element('div', {class: 'toolbar'}, search, hits, element('span', {class: 'grow'}), legend, colour, start, fit),
      element('div', {class: 'views'}, views.model.view, views.steps.view, side));
  side.replaceChildren(...hint());
  window.onnxcViews = views;  // for tests
}
