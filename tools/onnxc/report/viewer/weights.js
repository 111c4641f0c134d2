// Constants by size, and the steps that read them.
'use strict';

function buildWeights(section) {
  const readers = data.weights.map(() => []);
  for (const step of data.steps) {
    for (const id of step.reads) {
      let buffer = data.buffers[id];
      while (buffer.parent !== undefined) buffer = data.buffers[buffer.parent];
      if (buffer.place === 'weights' && !readers[buffer.index]?.includes(step)) readers[buffer.index]?.push(step);
    }
  }
  const order = data.weights.map((weights, i) => ({...weights, readers: readers[i]})).sort((a, b) => b.bytes - a.bytes);
  const most = Math.max(1, order[0]?.bytes ?? 1), total = data.totals.weight_bytes || 1;
  const row = w => element(
      'div', {class: 'weight'}, element('span', {title: w.from || w.name}, w.from || w.name),
      element('div', {}, element('div', {class: 'bar', style: `width: ${100 * w.bytes / most}%`})),
      element('span', {class: 'number'}, bytes(w.bytes)), element('span', {class: 'faint'}, `${w.type}${w.bytes_saved > 0 ? ' for f32' : w.bytes_saved < 0 ? ' scales' : ''}, ${percent(w.bytes / total)}`),
      element(
          'span', {},
          ...w.readers.slice(0, 3).flatMap(
              (step, i) => [i ? ', ' : 'step ', element('a', {click: () => selection.step(step.number - 1)}, String(step.number))]),
          w.readers.length > 3 ? ` and ${w.readers.length - 3} more` : ''));
  const list = element('div', {class: 'panel'}, ...order.slice(0, 100).map(row));
  section.append(
      element(
          'p', {class: 'faint'},
          `${plural(order.length, 'constant')} as the kernels read them, packed: ${
              bytes(data.totals.weight_bytes)} together. Equal ones are there once.${
              data.totals.weight_bytes_saved ? ` Narrower types that hold the same values save ${bytes(data.totals.weight_bytes_saved)}.` : ''}`),
      list);
  if (order.length > 100)
    section.append(element(
        'button', {
          click: event => {
            list.append(...order.slice(100).map(row));
            event.target.remove();
          }
        },
        `Show all ${order.length}`));
}
