// The page of one compilation.
'use strict';

document.title = `${data.model.file} - onnxc report`;
document.body.append(
    element(
        'header', {}, element('h1', {}, data.model.file),
        element('span', {class: 'faint'}, [data.model.graph, data.model.producer].filter(Boolean).map(text => short(text, 80)).join(', ')),
        element('span', {class: 'grow'}), element('span', {class: 'faint'}, `onnxc ${data.onnxc}`), themeButton()),
    element('div', {class: 'cards'}, ...overview()));
tabs([
  {id: 'graph', name: 'Graph', build: buildGraph, whole: true}, {id: 'passes', name: 'Passes', build: buildPasses},
  {id: 'memory', name: 'Memory', build: buildMemory}, {id: 'steps', name: 'Steps', build: buildSteps},
  {id: 'weights', name: 'Weights', build: buildWeights}, ...(data.floats.length ? [{id: 'floats', name: 'Floats', build: buildFloats}] : [])
]);

function overview() {
  const {arena, totals, device_arena: deviceArena, transfers} = data, opsets = Object.entries(data.model.opsets).map(([domain, version]) => `${domain} ${version}`).join(', ');
  const unknown = data.steps.filter(step => !step.cost_ns && !(known(step.macs) && known(step.bytes))).length;
  const cards = [
    card('opsets', opsets),
    card('target, options', optionsText(data)),
    card(data.threads === 1 ? 'thread' : 'threads', String(data.threads)),
  ];
  if (known(arena.bytes)) {
    const gap = (arena.bytes - arena.lower_bound) / (arena.lower_bound || 1);
    cards.push(
        card(
            arena.proved ? 'arena, proved minimal' : `arena, ${percent(gap)} above the bound`, bytes(arena.bytes),
            `${arena.bytes} bytes; lower bound ${arena.lower_bound}`),
        card('intermediates together', bytes(arena.unshared_bytes), `${arena.unshared_bytes} bytes without sharing`));
  } else {
    const {dims, bytes: size, lower_bound: bound, proved} = arena.likely;
    cards.push(
        card(
            `arena at ${Object.entries(dims).map(([name, extent]) => `${name} = ${extent}`).join(', ')}, ${proved ? 'proved minimal' : `${percent((size - bound) / (bound || 1))} above the bound`}`,
            bytes(size), `${size} bytes; lower bound ${bound}`),
        card('intermediates together', bytes(arena.likely.unshared_bytes), `${arena.likely.unshared_bytes} bytes without sharing; at any sizes ${arena.unshared_bytes}`));
  }
  if (deviceArena) {
    const size = deviceArena.bytes ?? deviceArena.likely.bytes, onHost = data.steps.filter(step => step.device === 'host' && step.writes.length).length;
    cards.push(
        card('arena on the GPU', bytes(size), `${size} bytes${deviceArena.likely ? ' at likely sizes' : ''}`),
        card('steps on the host', String(onHost), `copies to the host: ${transfers.to_host}, to the GPU: ${transfers.to_gpu}`));
  }
  if (data.footprint) cards.push(...footprintCards(data.footprint));
  cards.push(card('weights', bytes(totals.weight_bytes), `${totals.weight_bytes} bytes, packed`));
  if (totals.weight_bytes_saved)
    cards.push(card('saved by narrower weights', bytes(totals.weight_bytes_saved), `${totals.weight_bytes_saved} bytes more as f32; the results are the same`));
  cards.push(
      card('multiply-adds', known(totals.macs) ? count(totals.macs) : 'depends on dimensions', String(totals.macs)),
      card(
          unknown ? `predicted, without ${plural(unknown, 'step')}` : 'predicted time', duration(totals.cost_ns),
          unknown ? 'The others depend on dimensions' : 'Sum over all steps, on one thread'));
  const floats = data.floats.reduce((sum, group) => sum + group.nodes.length, 0);
  if (floats) cards.push(card('nodes in floats', String(floats), 'although the network is quantised; the reasons are under Floats'));
  const onHost = data.on_host?.reduce((sum, group) => sum + group.nodes.length, 0);
  if (onHost) cards.push(card('nodes on the host', String(onHost), 'although the unit is for a GPU; a click on a node tells why'));
  if (counted()) {
    const sum = name => data.steps.reduce((total, step) => total + (step[name] ?? 0), 0), by = `one run on ${data.emulated.data}, ${data.emulated.emulator}`;
    cards.push(card('instructions', count(sum('instructions')), data.emulated.passed ? by : `${by}: WRONG OUTPUTS`));
    if (sum('cycles')) cards.push(card('cycles', count(sum('cycles')), 'of the core, if memory never waits'));
  }
  if (measured.size) cards.push(card('measured time', duration([...measured.values()].reduce((sum, step) => sum + step.mean_ns, 0))));
  return cards;
}

/// Whether an emulator has counted what steps take.
function counted() { return data.steps.some(step => step.instructions !== undefined); }

/// What the unit takes of the machine.
function footprintCards(footprint) {
  const {flash, ram, stack, code, constants, weights} = footprint;
  return [
    card('flash', bytes(flash), `code ${code}, constants ${constants}, weights ${weights} bytes; ${footprint.compiler}`),
    ...(ram === null ? [] : [card('RAM', bytes(ram), `${ram} bytes: arena, stack and variables`)]),
    card('stack', stack === null ? 'unknown' : bytes(stack), footprint.stack_path ?? footprint.stack_why)
  ];
}
