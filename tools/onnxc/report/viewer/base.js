// What the page is made from, elements, numbers as text, colours. Names come from strangers: they become text nodes, never markup.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);

/// element('td', {class: 'number'}, child, ...): children are elements or text; attributes that are functions are listeners.
function element(tag, attributes = {}, ...children) { return filled(document.createElement(tag), attributes, children); }
function svg(tag, attributes = {}, ...children) { return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children); }
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function')
      node.addEventListener(name, value);
    else if (value !== undefined && value !== null)
      node.setAttribute(name, value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

// Numbers. A size that depends on dimensions is text, and stays it.
const known = value => typeof value === 'number' && isFinite(value);
const number = value => known(value) ? value : 0;
const short = (text, most = 60) => text.length > most ? text.slice(0, most - 1) + '…' : text;
/// The end of a long name, where names of one model differ.
const tail = (text, most = 40) => text.length > most ? '…' + text.slice(1 - most) : text;
function digits(value) { return value === 0 ? '0' : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2); }
function scaled(value, units, step) {
  let unit = 0;
  for (; unit + 1 < units.length && Math.abs(value) >= step; ++unit) value /= step;
  return (unit === 0 ? String(+value.toFixed(value < 10 ? 2 : 0)) : digits(value)) + units[unit];
}
const bytes = value => known(value) ? scaled(value, [' B', ' KiB', ' MiB', ' GiB', ' TiB'], 1024) : String(value ?? '');
const count = value => known(value) ? scaled(value, ['', ' k', ' M', ' G', ' T'], 1000) : String(value ?? '');
const duration = ns => known(ns) ? scaled(ns, [' ns', ' µs', ' ms', ' s'], 1000) : '';
const percent = part => part > 0 && part < 0.0005 ? '< 0.1 %' : (100 * part).toFixed(part < 0.0995 ? 1 : 0) + ' %';
const plural = (n, one) => `${n} ${one}${n === 1 ? '' : 's'}`;

// Colours are those of the style sheet; canvases are told when the theme changes.
const theme = {
  listeners: [],
  colour(name) { return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim(); },
  set(dark) {
    document.documentElement.classList.toggle('dark', dark);
    for (const listener of this.listeners) listener();
  },
};
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
theme.set(prefersDark.matches);
prefersDark.addEventListener('change', event => theme.set(event.matches));
const themeButton = () =>
    element('button', {id: 'theme', title: 'Light or dark', click: () => theme.set(!document.documentElement.classList.contains('dark'))}, '◐');

// Families of operators and kernels, by their names: each has a colour.
const families = {
  product: 'products',
  elementwise: 'elementwise',
  reduce: 'reductions',
  move: 'data movement',
  control: 'control',
  border: 'in and out'
};
function family(name) {
  if (/^(If|Loop|Scan|SequenceMap|if|loop|declare|assign|bind|require|allocate|move|release|shape)$/.test(name)) return 'control';
  if (/conv|gemm|gemv|matmul|winograd|depthwise|lstm|gru|rnn|recurren|attention|einsum/i.test(name)) return 'product';
  if (/pool|reduce|softmax|norm|arg_?m|mean|top_?k|cumsum/i.test(name)) return 'reduce';
  if (/copy|transpos|concat|split|slice|gather|scatter|pad|shape|expand|squeeze|flatten|resize|tile|store|extents|range|identity|constant/i.test(
          name))
    return 'move';
  return 'elementwise';
}

/// A box beside the pointer.
const tip = {
  box: document.body.appendChild(element('div', {class: 'tip'})),
  show(event, text) {
    this.box.textContent = text;
    this.box.style.display = 'block';
    const {width, height} = this.box.getBoundingClientRect();
    this.box.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - width - 6)) + 'px';
    this.box.style.top = Math.max(0, event.clientY + 14 + height > innerHeight ? event.clientY - height - 8 : event.clientY + 14) + 'px';
  },
  hide() { this.box.style.display = 'none'; },
};

/// `native, -O3, batch=1`: the target, and options that are not as usual.
function optionsText({target, options}) {
  const dims = Object.entries(options.dims).map(([name, value]) => `${name}=${value}`);
  return [
    target, options.level, ...dims, options.memory === 'speed' ? '' : 'memory ' + options.memory,
    options.math === 'default' ? '' : options.math + ' math',
    options.narrow_weights === 'auto' ? '' : 'narrow weights ' + options.narrow_weights,
    options.weights_growth === 2 ? '' : `weights growth ${options.weights_growth}`
  ].filter(Boolean)
      .join(', ');
}

const card = (label, value, title) => element('div', {class: 'card', title: title ?? value}, element('b', {}, value), element('span', {}, label));

/// Pages of a page: [{id, name, build(section)}], built when they are first shown. `whole`: fills the window and scrolls by itself.
function tabs(pages) {
  const nav = element('nav', {role: 'tablist'}), main = element('main');
  const show = id => {
    const chosen = pages.find(page => page.id === id) ?? pages[0];
    for (const page of pages) {
      page.button.classList.toggle('chosen', page === chosen);
      page.section.classList.toggle('chosen', page === chosen);
    }
    main.classList.toggle('whole', !!chosen.whole);
    if (!chosen.built) chosen.build(chosen.section);
    chosen.built = true;
  };
  for (const page of pages) {
    page.button = nav.appendChild(element(
        'button', {
          role: 'tab',
          click: () => {
            location.hash = page.id;
          }
        },
        page.name));
    page.section = main.appendChild(element('section', {id: 'tab-' + page.id, class: page.id}));
  }
  document.body.append(nav, main);
  addEventListener('hashchange', () => show(location.hash.slice(1)));
  show(location.hash.slice(1));
}
