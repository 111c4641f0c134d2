// What each pass changed.
'use strict';

function buildPasses(section) {
  const most = Math.max(1, ...data.passes.map(pass => pass.after), ...data.passes.map(pass => pass.before ?? 0));
  section.append(element(
      'p', {class: 'faint'},
      'Nodes of the graph after each pass, regions included. Passes leave nodes behind that nothing needs; eliminate_dead_code takes them away.'));
  for (const pass of data.passes) section.append(passDetails(pass, most));
}

function passDetails(pass, most) {
  const imported = pass.before === undefined;
  const sizes =
      imported ? [] : [['vanished', pass.vanished], ['appeared', pass.appeared], ['changed', pass.changed]].filter(([, list]) => list.length);
  const operators = Object.entries(imported ? {} : pass.operators).sort(([, a], [, b]) => Math.abs(b[1] - b[0]) - Math.abs(a[1] - a[0]));
  const chips = operators.slice(0, 6).map(
      ([op, [before, after]]) =>
          element('span', {class: 'chip', title: `${before} → ${after}`}, `${op} ${after > before ? '+' : '−'}${Math.abs(after - before)}`));
  if (operators.length > 6) chips.push(element('span', {class: 'chip'}, `and ${operators.length - 6} more`));
  const box = element(
      'details', {class: 'pass' + (!imported && !sizes.length ? ' idle' : '')},
      element(
          'summary', {}, element('b', {}, pass.name),
          element(
              'div', {class: 'count'}, element('i', {style: `width: ${100 * pass.after / most}%`}),
              element('span', {}, imported || pass.before === pass.after ? plural(pass.after, 'node') : `${pass.before} → ${pass.after} nodes`)),
          element(
              'span', {class: 'faint'},
              imported         ? '' :
                  sizes.length ? sizes.map(([what, list]) => `${list.length} ${what}`).join(', ') :
                                 'no change'),
          element('div', {class: 'chips'}, ...chips)));
  box.addEventListener('toggle', () => {
    if (box.open && box.childElementCount === 1) box.append(...sizes.flatMap(([what, list]) => changeList(what, list)));
  });
  return box;
}

function changeList(what, list) {
  const item = change => element(
      'li', {}, element('b', {}, change.value), element('br'),
      ...(change.node !== undefined ? [element('code', {}, change.node)] :
                                      [element('code', {class: 'faint'}, change.before), element('br'), element('code', {}, '→ ' + change.after)]));
  const items = element('ul', {class: 'changes'}, ...list.slice(0, 50).map(item));
  const all = list.length > 50 ? [element(
                                     'button', {
                                       click: event => {
                                         items.append(...list.slice(50).map(item));
                                         event.target.remove();
                                       }
                                     },
                                     `Show all ${list.length}`)] :
                                 [];
  return [element('h3', {}, what), items, ...all];
}
