// What is known of a node, beside the graphs.
'use strict';

function hint() {
  return [
    element('h2', {}, 'Nodes and steps'),
    element(
        'p', {class: 'faint'},
        'Left is the model as it was imported, right what onnxc made of it: the steps of the program, in order. ' +
            'A click on a node shows what is known of it, and where it is on the other side.'),
    element('p', {class: 'faint'}, 'Drag to move, turn the wheel to zoom. Steps are numbered as in the comments of the emitted file.')
  ];
}

/// [[name, value]], those without a value left out.
function facts(list) {
  const shown = list.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return element(
      'dl', {},
      ...shown.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, typeof value === 'string' ? short(value, 800) : value)]));
}

const choose = (view, node, text, most) => element(
    'a', {
      href: '#graph',
      title: text,
      click: event => {
        event.preventDefault();
        selection.set(view, node);
      }
    },
    tail(text, most));
const titled = (title, list) => list.length ?
    [element('h3', {}, title), element('ul', {}, ...list.map(item => element('li', {}, typeof item === 'string' ? short(item, 400) : item)))] :
    [];

/// Why nodes of a quantised network are computed in floats, by the names of their first outputs.
const floatReasons = new Map(data.nodes.filter(node => node.in_floats).map(node => [node.outputs[0], node.in_floats]));

/// Why nodes of a unit for a GPU are computed on the host.
const hostReasons = new Map(data.nodes.filter(node => node.on_host).map(node => [node.outputs[0], node.on_host]));

function details(view, i) {
  const node = data.graphs[view].nodes[i];
  if (node.kind === 'step') return stepDetails(data.steps[node.step]);
  if (node.kind !== 'node') return [element('h2', {}, short(node.name, 200)), facts([['is', `${node.kind} of the model`], ['type', node.subtitle]])];
  const steps = counterparts.stepsOf[i];
  const value = v => `${v.name}: ${v.type}${v.constant ? ' (constant)' : ''}`;
  return [
    element('h2', {}, node.title), facts([
      ['name', node.name], ['attributes', node.attributes], ['in floats', floatReasons.get(node.outputs[0]?.name)],
      ['on the host', hostReasons.get(node.outputs[0]?.name)],
      [
        'inside of',
        node.inside === undefined ?
            '' :
            choose('model', node.inside, data.graphs.model.nodes[node.inside].title + ' ' + data.graphs.model.nodes[node.inside].name)
      ]
    ]),
    ...titled('Inputs', node.inputs.map(value)), ...titled('Outputs', node.outputs.map(value)), element('h3', {}, 'Became'),
    steps.length ?
        element('ul', {}, ...steps.map(step => element('li', {}, choose('steps', nodeOfStep[step], `step ${step + 1}, ${data.steps[step].label}`)))) :
        element('p', {class: 'faint'}, 'No step: it is computed at compile time, changes no value, or is not needed.')
  ];
}

function bufferText(id) {
  const b = data.buffers[id];
  const root = b.parent === undefined ? b : data.buffers[b.parent];
  const at = b.parent !== undefined ? `in '${root.name}' at ${b.offset}` : b.place === 'arena' && known(b.offset) ? `arena ${b.region ? `in ${b.region} ` : ''}at ${b.offset}` : b.place;
  const where = data.device_arena ? (b.device === 'gpu' ? ' on the GPU' : ' on the host') : '';
  const life = root.first === undefined ? '' : `, steps ${root.first + 1} to ${root.last}`;
  return `${b.name}: ${b.type}, ${bytes(b.bytes)}, ${at}${where}${life}`;
}

function stepDetails(step) {
  const time = measuredNs(step), calls = measured.get(step.number - 1)?.calls, total = data.totals.cost_ns;
  const weights = step.reads.filter(id => data.buffers[id].place === 'weights');
  const origins = step.origins.map(
      origin => [origin, counterparts.nodesOf[step.number - 1].find(i => data.graphs.model.nodes[i].outputs[0]?.name === origin.output)]);
  const choice = data.choices.find(one => one.value === step.value && one.candidates[one.winner]?.kernel === step.label);
  return [
    element('h2', {}, `Step ${step.number}: ${step.label}`), element('div', {class: 'faint'}, short(step.what, 800)), facts([
      ['value', step.value], ['device', data.device_arena ? (step.device === 'gpu' ? 'the GPU' : step.on_host ? `the host: ${step.on_host}` : 'the host') : ''], ['multiply-adds', step.macs ? count(step.macs) : ''], ['bytes moved', step.bytes ? bytes(step.bytes) : ''],
      ['weights', step.weight_bytes ? bytes(step.weight_bytes) : ''],
      ['predicted', step.cost_ns ? `${duration(step.cost_ns)}, ${percent(step.cost_ns / total)} of all` : ''],
      ['measured', time === undefined ? '' : duration(time) + (calls > 1 ? ` a call, ${calls} calls` : '')],
      ['speed', known(step.macs) && step.macs && (time || step.cost_ns) ? `${digits(step.macs / (time || step.cost_ns))} GMAC/s` : ''],
      ['threads', data.threads > 1 ? (step.parallel ? 'shared' : 'one') : '']
    ]),
    ...titled(
        'Computes, of the model',
        origins.map(
            ([origin, node]) => node === undefined ? `${origin.op} ${origin.name}` :
                                                     element('span', {}, origin.op + ' ', choose('model', node, origin.name || origin.output, 28)))),
    ...titled('Reads', step.reads.filter(id => !weights.includes(id)).map(bufferText)),
    ...titled('Weights', weights.map(id => weightText(data.buffers[id]))), ...titled('Writes', step.writes.map(bufferText)),
    ...(choice && choice.candidates.length > 1 ?
            titled(
                'Kernels considered',
                choice.candidates.map(
                    (candidate, i) => `${candidate.kernel}${candidate.note ? ', ' + candidate.note : ''}${candidate.cost_ns ? ', ' + duration(candidate.cost_ns) : ''}${
                        i === choice.winner ? ' (chosen)' : ''}`)) :
            [])
  ];
}

function weightText(buffer) {
  const weights = data.weights[buffer.index];
  return weights ? `${weights.from || buffer.name}: ${weights.type}${weights.bytes_saved ? ' for f32' : ''}, ${bytes(weights.bytes)}` : bufferText(buffer.id);
}
