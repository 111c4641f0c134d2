// A table that sorts by its columns, and shows the first of many rows until it is asked for all.
'use strict';

/// columns: [{name, title, text: row => string, value: row => number, fill: row => part of 1, class}]; a column with `value` holds numbers.
/// options: {link(row), kind(row): class of the row, first: how many rows at first}
function sortableTable(columns, rows, options = {}) {
  const body = element('tbody'), rest = element('button', {style: 'margin: 8px'});
  let order = rows.slice(), sorted = null, falling = false, most = options.first ?? 300;
  const cell = (column, row) => {
    const text = column.text(row),
          td = element('td', {class: column.class ?? (column.value ? 'number' : 'text'), title: column.value ? null : text}, text);
    const part = column.fill?.(row);
    if (part > 0) td.style.background = `linear-gradient(to left, var(--bar) ${100 * part}%, transparent 0)`;
    return td;
  };
  const fill = () => {
    body.replaceChildren(...order.slice(0, most).map(
        row => element(
            'tr', {
              class: (options.kind?.(row) ?? '') + (options.link ? ' link' : ''),
              click: () => options.link?.(row),
            },
            ...columns.map(column => cell(column, row)))));
    rest.hidden = order.length <= most;
    rest.textContent = `Show all ${order.length}`;
  };
  rest.addEventListener('click', () => {
    most = Infinity;
    fill();
  });
  const heads =
      columns.map(column => element('th', {class: column.value ? 'number' : '', title: column.title, click: () => sort(column)}, column.name));
  const sort = column => {
    falling = sorted === column ? !falling : !!column.value;
    sorted = column;
    const key = column.value ?? column.text;
    order.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (falling ? -1 : 1));
    heads.forEach((head, i) => {
      head.textContent = columns[i].name + (columns[i] === column ? (falling ? ' ▾' : ' ▴') : '');
    });
    fill();
  };
  const table = element('div', {class: 'scroll'}, element('table', {}, element('thead', {}, element('tr', {}, ...heads)), body), rest);
  fill();
  /// Shows only the rows that pass.
  table.filter = passes => {
    order = rows.filter(passes);
    if (sorted) {
      falling = !falling;
      sort(sorted);
    } else
      fill();
  };
  return table;
}
