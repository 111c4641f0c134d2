// Nodes of a quantised network that are computed in floats, by operator and reason.
'use strict';

function buildFloats(section) {
  const numbers = new Map(data.graphs.model.nodes.map((node, i) => [node.outputs?.[0]?.name, i]));
  const link = node => {
    const number = numbers.get(node.output);
    return number === undefined ? node.name || node.output : choose('model', number, node.name || node.output, 40);
  };
  section.append(element(
      'p', {class: 'faint'},
      'The network is quantised, and these nodes are computed in floats. Elementwise operators are not among them: steps before and after compute them in registers.'));
  for (const group of data.floats)
    section.append(
        element('h3', {}, `${group.op}: ${group.reason}`),
        element('ul', {}, ...group.nodes.map(node => element('li', {}, link(node)))));
}
