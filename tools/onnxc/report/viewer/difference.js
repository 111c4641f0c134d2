// The page of two compilations, side by side.
'use strict';

const {a, b, rows} = data;
/// The file's name, and what else sets it apart from the other.
function sideName(side, other) {
  if (side.model.file !== other.model.file) return side.model.file;
  const model = side.model.sha256 === other.model.sha256 ? '' : String(side.model.sha256).slice(0, 8) + ', ';
  return `${side.model.file} (${model}${optionsText(side)}, ${plural(side.threads, 'thread')})`;
}

/// `1.2 ms → 0.9 ms (−25 %)`
function changeText(from, to, format) {
  if (!known(from) || !known(to)) return from === to ? short(String(from), 40) : `${short(format(from), 30)} → ${short(format(to), 30)}`;
  return from === to ? format(to) :
                       `${format(from)} → ${format(to)}${from ? ` (${to > from ? '+' : '−'}${percent(Math.abs(to - from) / from)})` : ''}`;
}

document.title = 'comparison - onnxc report';
const kinds = {
  gone: row => !row.b,
  new: row => !row.a,
  other: row => row.a && row.b && row.a.label !== row.b.label
};
const tally = Object.entries({gone: 'removed', new: 'added', other: 'with another kernel'})
                  .map(([kind, text]) => `${rows.filter(kinds[kind]).length} ${text}`)
                  .join(', ');
const line = (label, from, to, format) => card(label, changeText(from, to, format));
document.body.append(
    element(
        'header', {}, element('h1', {}, `${sideName(a, b)} → ${sideName(b, a)}`), element('span', {class: 'grow'}),
        element('span', {class: 'faint'}, `onnxc ${data.onnxc}`), themeButton()),
    element(
        'div', {class: 'cards'}, line('steps', a.steps, b.steps, String),
        line('arena', a.arena.bytes ?? 'depends on dimensions', b.arena.bytes ?? 'depends on dimensions', bytes),
        line('weights', a.totals.weight_bytes, b.totals.weight_bytes, bytes), line('multiply-adds', a.totals.macs, b.totals.macs, count),
        line('predicted time', a.totals.cost_ns, b.totals.cost_ns, duration),
        ...(a.model.file !== b.model.file ? [card('options of the first', optionsText(a)), card('options of the second', optionsText(b))] : [])));

const pair = (row, member) => [number(row.a?.[member]), number(row.b?.[member])];
const gain = (row, member) => {
  const [from, to] = pair(row, member);
  return to - from;
};
const shown = (step, member, format) => step && step[member] ? short(format(step[member]), 22) : '';
const sides = (name, member, format) =>
    [{name: name + ' A', text: row => shown(row.a, member, format), value: row => number(row.a?.[member])},
     {name: name + ' B', text: row => shown(row.b, member, format), value: row => number(row.b?.[member])},
];
const hasMeasured = rows.some(row => row.a?.measured_ns !== undefined || row.b?.measured_ns !== undefined);
const columns = [
  {name: 'step A', text: row => row.a ? String(row.a.number) : '', value: row => row.a?.number ?? Infinity},
  {name: 'step B', text: row => row.b ? String(row.b.number) : '', value: row => row.b?.number ?? Infinity},
  {name: 'value', text: row => (row.b ?? row.a).value},
  {
    name: 'kernel',
    text: row => !row.a ? `+ ${row.b.label}` :
        !row.b ? `− ${row.a.label}` :
        row.a.label === row.b.label ? row.b.label :
                                      `${row.a.label} → ${row.b.label}`
  },
  ...sides('MACs', 'macs', count),
  ...sides('bytes', 'bytes', bytes),
  ...sides('weights', 'weight_bytes', bytes),
  ...sides('predicted', 'cost_ns', duration),
  {
    name: 'change',
    title: 'Of the predicted time',
    text: row => Math.abs(gain(row, 'cost_ns')) < 0.5 ? '' : (gain(row, 'cost_ns') > 0 ? '+' : '−') + duration(Math.abs(gain(row, 'cost_ns'))),
    value: row => gain(row, 'cost_ns')
  },
  ...(hasMeasured ? sides('measured', 'measured_ns', duration) : []),
];
const table = sortableTable(columns, rows, {kind: row => Object.keys(kinds).find(kind => kinds[kind](row)) ?? '', first: 500});
const only = element('input', {
  type: 'checkbox',
  id: 'only',
  change: () => table.filter(
      row => !only.checked || Object.values(kinds).some(kind => kind(row)) ||
          ['macs', 'bytes', 'weight_bytes', 'cost_ns'].some(member => row.a?.[member] !== row.b?.[member]))
});
document.body.append(element(
    'main', {},
    element(
        'div', {class: 'toolbar', style: 'padding: 0 0 8px'}, element('span', {class: 'faint'}, `Steps matched by the value they compute: ${tally}.`),
        element(
            'label',
            {for: 'only'
            },
            only, ' only those that differ')),
    table));
