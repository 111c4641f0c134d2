// The arena: steps across, addresses up. Where sizes depend on dimensions, lifetimes alone.
'use strict';

const kPlanLeft = 84, kPlanBottom = 34, kPlanTop = 22, kPlanRight = 16;

function buildMemory(section) {
  if (data.regions?.some(region => !region.constants_only)) return data.regions.forEach(region => buildRegion(section, region));
  if (!data.device_arena) return buildArena(section, 'host', data.arena);
  for (const [device, name, arena] of [['gpu', 'On the GPU', data.device_arena], ['host', 'On the host', data.arena]]) {
    section.append(element('h3', {}, name));
    buildArena(section, device, arena);
  }
}

/// A memory of several: its part of the arena, and the constants in it.
function buildRegion(section, region) {
  section.append(
      element('h3', {}, `Region ${region.name}`),
      element('p', {class: 'faint'}, `${bytes(region.bytes)} of arena and ${bytes(region.constant_bytes)} of constants in ${bytes(region.capacity)}: ${
          percent(region.share)} of all accesses, by estimate.`));
  const constants = data.weights.filter(w => w.region === region.name);
  if (constants.length)
    section.append(element('p', {class: 'faint'}, 'Constants: ' + short(constants.map(w => `${w.from} (${bytes(w.bytes)})`).join(', '), 800)));
  if (!region.constants_only) buildArena(section, 'host', region, region.name);
}

function buildArena(section, device, arena, region) {
  const buffers = data.buffers.filter(b => b.place === 'arena' && b.device === device && b.parent === undefined && b.first >= 0 && b.region === region);
  const views = new Map(), writers = new Map();
  for (const b of data.buffers)
    if (b.parent !== undefined) views.set(b.parent, [...(views.get(b.parent) ?? []), b.name]);
  for (const step of data.steps)
    for (const id of step.writes) writers.set(id, writers.get(id) ?? step);
  const tell =
      b => [b.name, `${b.type}, ${bytes(b.bytes)}`, `live in steps ${b.first + 1} to ${b.last}` + (known(b.offset) ? `, at ${b.offset}` : ''),
            views.has(b.id) ? 'holds too: ' + short([...new Set(views.get(b.id))].join(', '), 200) : '']
               .filter(Boolean)
               .join('\n');
  const plan = {
    arena,
    buffers,
    tell,
    writer: b => writers.get(b.id),
    steps: data.steps.length,
    colour: b => writers.has(b.id) ? family(writers.get(b.id).label) : 'border'
  };
  if (!buffers.length)
    section.append(element('p', {class: 'faint'}, 'Nothing lies in the arena.'));
  else if (known(arena.bytes))
    section.append(addressText(plan), planCanvas(plan, drawAddresses(plan), () => Math.max(320, innerHeight - 330)));
  else
    section.append(
        element(
            'p', {class: 'faint'},
            'Sizes depend on dimensions, so buffers are shown by their lifetimes alone; --dim NAME=SIZE fixes a dimension, and the plan at that size is shown.'),
        planCanvas(plan, drawLifetimes(plan), () => Math.max(120, Math.min(12000, buffers.length * 16 + kPlanTop + kPlanBottom))));
  const heap = data.buffers.filter(b => b.place === 'heap' && b.device === device && b.parent === undefined).length;
  if (heap && (region === undefined || region === data.regions[0].name))
    section.append(element(
        'p', {class: 'faint'},
        `${plural(heap, 'buffer')} more ${heap === 1 ? 'has' : 'have'} no bound before the model runs, and ${
            heap === 1 ? 'lies' : 'lie'} on the heap.`));
}

/// Bytes that live in each step; buffers begin at multiples of 64.
function liveBytes(plan) {
  const live = new Array(plan.steps + 1).fill(0);
  for (const b of plan.buffers) {
    const size = Math.ceil(number(b.bytes) / 64) * 64;
    live[b.first] += size;
    live[b.last] -= size;
  }
  for (let i = 1; i < live.length; ++i) live[i] += live[i - 1];
  live.pop();
  return live;
}

function addressText(plan) {
  const {bytes: size, lower_bound: bound, unshared_bytes: sum, proved} = plan.arena, live = liveBytes(plan), peak = live.indexOf(Math.max(...live));
  const together = plan.buffers.filter(b => b.first <= peak && peak < b.last).sort((a, b) => b.bytes - a.bytes);
  return element(
      'p', {},
      `The arena takes ${bytes(size)}${
          proved ? ', and no plan takes less' : `, ${percent((size - bound) / bound)} above the lower bound of ${bytes(bound)}`}; ` +
          `without sharing it would take ${bytes(sum)}. Most lives in step ${peak + 1}, ${data.steps[peak]?.label}: ${
              short(together.slice(0, 4).map(b => `${short(b.name, 40)} (${bytes(b.bytes)})`).join(', '), 220)}` +
          (together.length > 4 ? ` and ${together.length - 4} more.` : '.'));
}

/// A canvas that is drawn anew for each width and theme. `draw(context, frame)` gives the boxes it drew: [{x, y, w, h, buffer}].
function planCanvas(plan, draw, height) {
  const canvas = element('canvas', {'aria-label': 'memory plan'}), box = element('div', {class: 'panel plan'}, canvas);
  let boxes = [], hover = null;
  const paint = () => {
    const dots = devicePixelRatio || 1, room = box.clientWidth - 30;
    if (room <= 0) return;
    const width = Math.max(room, Math.min(8000, kPlanLeft + kPlanRight + 2 * plan.steps)), tall = height();
    canvas.style.width = width + 'px';
    canvas.style.height = tall + 'px';
    canvas.width = width * dots;
    canvas.height = tall * dots;
    const context = canvas.getContext('2d');
    context.setTransform(dots, 0, 0, dots, 0, 0);
    const frame = {left: kPlanLeft, top: kPlanTop, right: width - kPlanRight, bottom: tall - kPlanBottom};
    frame.x = step => frame.left + (frame.right - frame.left) * step / Math.max(1, plan.steps);
    boxes = draw(context, frame, hover);
    drawSteps(context, frame, plan.steps);
  };
  const at = event =>
      boxes.findLast(b => event.offsetX >= b.x && event.offsetX <= b.x + b.w && event.offsetY >= b.y && event.offsetY <= b.y + b.h)?.buffer ?? null;
  canvas.addEventListener('pointermove', event => {
    const buffer = at(event);
    if (buffer)
      tip.show(event, plan.tell(buffer));
    else
      tip.hide();
    canvas.style.cursor = buffer ? 'pointer' : 'default';
    if (buffer !== hover) {
      hover = buffer;
      paint();
    }
  });
  canvas.addEventListener('pointerleave', () => {
    tip.hide();
    hover = null;
    paint();
  });
  canvas.addEventListener('click', event => {
    const writer = at(event) && plan.writer(at(event));
    if (writer) {
      tip.hide();
      selection.step(writer.number - 1);
    }
  });
  theme.listeners.push(paint);
  new ResizeObserver(paint).observe(box);
  return box;
}

/// About `most` round numbers up to `end`.
function ticks(end, most, base = 10) {
  const steps = base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16], raw = Math.max(1, end / most);
  const power = base === 10 ? 10 ** Math.floor(Math.log10(raw)) : 16 ** Math.floor(Math.log2(raw) / 4);
  const step = power * steps.find(s => s * power >= raw * 0.999);
  return Array.from({length: Math.floor(end / step) + 1}, (_, i) => i * step);
}

function drawSteps(context, frame, steps) {
  context.fillStyle = theme.colour('faint');
  context.font = kSubtitleFont;
  context.textBaseline = 'top';
  context.textAlign = 'center';
  for (const tick of ticks(steps, (frame.right - frame.left) / 70)) {
    if (tick < steps) context.fillText(tick + 1, frame.x(tick + 0.5), frame.bottom + 5);
  }
  context.fillText('step', (frame.left + frame.right) / 2, frame.bottom + 19);
}

function drawBox(context, box, plan, hover) {
  const {x, y, w, h, buffer} = box;
  context.fillStyle = theme.colour(plan.colour(buffer));
  context.fillRect(x, y, w, h);
  if (h > 2 && w > 2) {
    context.lineWidth = buffer === hover ? 2.5 : 0.7;
    context.strokeStyle = theme.colour(buffer === hover ? 'accent' : 'faint');
    context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }
}

const drawAddresses = plan => (context, frame, hover) => {
  const size = Math.max(1, plan.arena.bytes), live = liveBytes(plan), most = Math.max(...live), peak = live.indexOf(most);
  const y = address => frame.bottom - (frame.bottom - frame.top) * address / size;
  context.font = kSubtitleFont;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const tick of ticks(size, 8, 16)) {
    context.strokeStyle = theme.colour('line');
    context.lineWidth = 1;
    context.strokeRect(frame.left, y(tick), frame.right - frame.left, 0);
    context.fillStyle = theme.colour('faint');
    context.fillText(bytes(tick), frame.left - 8, y(tick));
  }
  const boxes = plan.buffers.map(buffer => ({
                                   x: frame.x(buffer.first),
                                   y: y(buffer.offset + buffer.bytes),
                                   w: Math.max(1, frame.x(buffer.last) - frame.x(buffer.first)),
                                   h: Math.max(1, y(buffer.offset) - y(buffer.offset + buffer.bytes)),
                                   buffer
                                 }));
  for (const box of boxes) drawBox(context, box, plan, hover);
  context.textAlign = 'left';
  context.fillStyle = theme.colour('text');
  for (const {x, y: top, w, h, buffer} of boxes) {
    if (w > 50 && h > 13) drawName(context, buffer.name, x + 4, top + h / 2, w - 8);
  }
  // What lives in each step, the step where most does, the bound.
  context.strokeStyle = theme.colour('text');
  context.lineWidth = 1.5;
  context.globalAlpha = 0.55;
  context.beginPath();
  live.forEach((value, i) => {
    context.lineTo(frame.x(i), y(value));
    context.lineTo(frame.x(i + 1), y(value));
  });
  context.stroke();
  context.fillStyle = theme.colour('accent');
  context.globalAlpha = 0.2;
  context.fillRect(frame.x(peak), frame.top, Math.max(2, frame.x(peak + 1) - frame.x(peak)), frame.bottom - frame.top);
  context.globalAlpha = 1;
  context.strokeStyle = theme.colour('accent');
  context.setLineDash([6, 4]);
  context.beginPath();
  context.moveTo(frame.left, y(plan.arena.lower_bound));
  context.lineTo(frame.right, y(plan.arena.lower_bound));
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = theme.colour('accent');
  context.textBaseline = 'bottom';
  context.textAlign = 'right';
  const bound = plan.arena.lower_bound < size ? `lower bound ${bytes(plan.arena.lower_bound)}` : `arena = lower bound, ${bytes(size)}`;
  context.fillText(
      `${bound};  line: bytes that live;  band: step ${peak + 1}, where most do`, frame.right,
      Math.max(frame.top - 4, y(plan.arena.lower_bound) - 4));
  return boxes;
};

const drawLifetimes = plan => (context, frame, hover) => {
  const order = plan.buffers.slice().sort((a, b) => a.first - b.first || a.last - b.last), row = (frame.bottom - frame.top) / order.length;
  context.font = kSubtitleFont;
  context.textBaseline = 'middle';
  const boxes = order.map((buffer, i) => ({
                            x: frame.x(buffer.first),
                            y: frame.top + i * row,
                            w: Math.max(2, frame.x(buffer.last) - frame.x(buffer.first)),
                            h: Math.max(1, row - 1),
                            buffer
                          }));
  for (const box of boxes) drawBox(context, box, plan, hover);
  if (row < 10) return boxes;
  for (const {x, y, w, h, buffer} of boxes) {  // names beside the bars, where there is room
    const text = `${short(buffer.name, 50)}  ${short(String(typeof buffer.bytes === 'number' ? bytes(buffer.bytes) : buffer.bytes + ' bytes'), 50)}`,
          room = context.measureText(text).width + 6;
    const right = x + w + room < frame.right, left = !right && x - room > 0;
    context.textAlign = left ? 'right' : 'left';
    context.fillStyle = theme.colour(right || left ? 'faint' : 'text');
    context.fillText(text, right ? x + w + 6 : left ? x - 6 : x + 6, y + h / 2);
  }
  return boxes;
};

function drawName(context, name, x, y, width) {
  let text = name.slice(0, 60);
  while (text && context.measureText(text).width > width) text = text.slice(0, -1);
  if (text.length > 3) context.fillText(text.length < name.length ? text.slice(0, -1) + '…' : text, x, y);
}
