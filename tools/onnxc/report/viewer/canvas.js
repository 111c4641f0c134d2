// A graph on a canvas: drawn where it is visible, moved by dragging, zoomed by the wheel. Knows nothing of models.
'use strict';

const kLeastScale = 0.004, kMostScale = 4;

class GraphCanvas {
  /// graph: {nodes: [{title, subtitle, family}], edges: [[from, to]], layout: {nodes: [[x, y, width, height]], curves}}
  /// on: {select(node or -1), describe(node): text of the box beside the pointer}
  constructor(graph, label, on) {
    this.graph = graph;
    this.boxes = graph.layout.nodes;
    this.on = on;
    this.canvas = element('canvas', {tabindex: 0, 'aria-label': label});
    this.map = element('canvas', {class: 'map'});
    this.view = element('div', {class: 'view'}, this.canvas, this.map, element('div', {class: 'label'}, label));
    this.width = 1 + Math.max(1, ...this.boxes.map(([x, , w]) => x + w / 2));
    this.height = 1 + Math.max(1, ...this.boxes.map(([, y, , h]) => y + h / 2));
    this.scale = 0;
    this.x = this.y = 0;     // of the canvas's corner, in the graph
    this.marks = new Map();  // node: name of a colour
    this.chosen = -1;
    this.heat = null;  // node: part of 1, in place of the family's colour
    this.texts = this.boxes.map(() => null);
    this.frames = 0;  // drawn so far
    theme.listeners.push(() => {
      this.colours = null;
      this.changed();
    });
    new ResizeObserver(() => this.resize()).observe(this.view);
    this.listen();
  }

  listen() {
    const canvas = this.canvas;
    let from = null;
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      from = {x: event.offsetX, y: event.offsetY, left: this.x, top: this.y, moved: false};
    });
    canvas.addEventListener('pointermove', event => {
      if (!from) return this.point(event);
      if (Math.hypot(event.offsetX - from.x, event.offsetY - from.y) > 4) from.moved = true;
      if (from.moved) this.move(from.left - (event.offsetX - from.x) / this.scale, from.top - (event.offsetY - from.y) / this.scale);
    });
    canvas.addEventListener('pointerup', event => {
      if (from && !from.moved) this.on.select(this.at(event.offsetX, event.offsetY));
      from = null;
    });
    canvas.addEventListener('pointercancel', () => {
      from = null;
    });
    canvas.addEventListener('pointerleave', () => tip.hide());
    canvas.addEventListener('wheel', event => {
      event.preventDefault();
      tip.hide();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
    }, {passive: false});
    canvas.addEventListener('dblclick', event => this.zoom(2, event.offsetX, event.offsetY));
    canvas.addEventListener('keydown', event => {
      const step = 80 / this.scale, middle = [this.view.clientWidth / 2, this.view.clientHeight / 2];
      const keys = {
        '+': () => this.zoom(1.3, ...middle),
        '-': () => this.zoom(1 / 1.3, ...middle),
        '0': () => this.fit(),
        ArrowLeft: () => this.move(this.x - step, this.y),
        ArrowRight: () => this.move(this.x + step, this.y),
        ArrowUp: () => this.move(this.x, this.y - step),
        ArrowDown: () => this.move(this.x, this.y + step),
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    const jump = event => {
      if (event.buttons) this.move(event.offsetX / this.mapScale - this.seenWidth() / 2, event.offsetY / this.mapScale - this.seenHeight() / 2);
    };
    this.map.addEventListener('pointerdown', jump);
    this.map.addEventListener('pointermove', jump);
  }

  seenWidth() { return this.view.clientWidth / this.scale; }
  seenHeight() { return this.view.clientHeight / this.scale; }

  point(event) {
    const node = this.at(event.offsetX, event.offsetY);
    this.canvas.style.cursor = node < 0 ? 'grab' : 'pointer';
    if (node < 0)
      tip.hide();
    else
      tip.show(event, this.on.describe(node));
  }

  /// The node at a place of the canvas, or -1.
  at(left, top) {
    const x = this.x + left / this.scale, y = this.y + top / this.scale, slack = 2 / this.scale;
    return this.boxes.findIndex(([cx, cy, w, h]) => Math.abs(x - cx) <= w / 2 + slack && Math.abs(y - cy) <= h / 2 + slack);
  }
  /// Where a node is on the canvas.
  place(node) {
    const [x, y] = this.boxes[node];
    return {x: (x - this.x) * this.scale, y: (y - this.y) * this.scale};
  }

  resize() {
    const {clientWidth: width, clientHeight: height} = this.view;
    if (!width || !height) return;
    const dots = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * dots);
    this.canvas.height = Math.round(height * dots);
    this.mapScale = Math.min(130 / this.width, Math.min(300, height * 0.5) / this.height);
    if (!this.scale) this.start();
    this.drawMap();
    this.changed();
  }

  /// The beginning of the graph at a size that can be read.
  start() {
    const width = this.view.clientWidth;
    this.scale = Math.min(1, Math.max(0.7, (width - 40) / this.width));
    const first = this.boxes[0] ?? [0, 0, 0, 0];
    const x = this.width * this.scale <= width - 40 ? this.width / 2 : first[0];
    this.move(x - width / this.scale / 2, -44 / this.scale);
  }
  fit() {
    const {clientWidth: width, clientHeight: height} = this.view;
    this.scale = Math.max(kLeastScale, Math.min(1, (width - 40) / this.width, (height - 70) / this.height));
    this.move((this.width - width / this.scale) / 2, (this.height - (height + 30) / this.scale) / 2);
  }
  zoom(factor, left, top) {
    const x = this.x + left / this.scale, y = this.y + top / this.scale;
    this.scale = Math.min(kMostScale, Math.max(kLeastScale, this.scale * factor));
    this.move(x - left / this.scale, y - top / this.scale);
  }
  /// Keeps a part of the graph in sight.
  move(x, y) {
    this.x = Math.min(this.width - 0.2 * this.seenWidth(), Math.max(-0.8 * this.seenWidth(), x));
    this.y = Math.min(this.height - 0.2 * this.seenHeight(), Math.max(-0.8 * this.seenHeight(), y));
    this.changed();
  }
  /// Brings nodes into sight, unless the first is.
  reveal(nodes) {
    if (!nodes.length || !this.scale) return;
    const {x, y} = this.place(nodes[0]);
    if (this.scale > 0.3 && x > 40 && y > 50 && x < this.view.clientWidth - 40 && y < this.view.clientHeight - 40) return;
    this.scale = Math.max(this.scale, 0.8);
    const [cx, cy] = this.boxes[nodes[0]];
    this.move(cx - this.seenWidth() / 2, cy - this.seenHeight() / 2);
  }
  mark(chosen, marks) {
    this.chosen = chosen;
    this.marks = marks;
    this.changed();
  }

  changed() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.scale && this.view.clientWidth) this.draw();
    });
  }

  palette() {
    const names = ['panel', 'text', 'faint', 'line', 'edge', 'accent', 'other', 'found', ...Object.keys(families)];
    return this.colours ??= Object.fromEntries(names.map(name => [name, theme.colour(name)]));
  }

  draw() {
    const context = this.canvas.getContext('2d'), dots = devicePixelRatio || 1, colours = this.palette();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const s = this.scale * dots;
    context.setTransform(s, 0, 0, s, -this.x * s, -this.y * s);
    this.drawEdges(context, colours);
    this.drawNodes(context, colours);
    this.drawFrame();
    ++this.frames;
  }

  drawEdges(context, colours) {
    const left = this.x, top = this.y, right = left + this.seenWidth(), bottom = top + this.seenHeight();
    const plain = new Path2D(), marked = new Path2D(), heads = new Path2D(), coarse = this.scale < 0.12;
    this.graph.edges.forEach(([from, to], i) => {
      const a = this.boxes[from], b = this.boxes[to], curve = this.graph.layout.curves[i];
      const reach = curve.length ? 120 : 60 + Math.abs(b[1] - a[1]) / 4;
      if (Math.max(a[0], b[0]) + reach < left || Math.min(a[0], b[0]) - reach > right || Math.max(a[1], b[1]) < top || Math.min(a[1], b[1]) > bottom)
        return;
      const path = from === this.chosen || to === this.chosen ? marked : plain;
      if (coarse) {
        path.moveTo(a[0], a[1]);
        path.lineTo(b[0], b[1]);
      } else {
        const end = curve.length ? traceCurve(path, curve) : traceEdge(path, a, b);
        if (this.scale > 0.4) traceHead(heads, end);
      }
    });
    context.lineWidth = Math.max(1.2, 0.8 / this.scale);
    context.strokeStyle = context.fillStyle = colours.edge;
    context.stroke(plain);
    context.fill(heads);
    context.strokeStyle = colours.accent;
    context.lineWidth *= 1.6;
    context.stroke(marked);
  }

  drawNodes(context, colours) {
    const left = this.x, top = this.y, right = left + this.seenWidth(), bottom = top + this.seenHeight();
    const readable = this.scale > 0.42, thin = Math.max(1, 0.6 / this.scale), thick = Math.max(3, 2.5 / this.scale);
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    this.boxes.forEach(([x, y, w, h], i) => {
      if (x + w / 2 < left || x - w / 2 > right || y + h / 2 < top || y - h / 2 > bottom) return;
      const node = this.graph.nodes[i], mark = i === this.chosen ? 'accent' : this.marks.get(i);
      context.fillStyle = this.heat ? heatColour(this.heat[i]) : colours[node.family];
      if (!readable) {  // far away: no corners, no border
        const grow = mark ? thick * 2 : 0;
        if (mark) context.fillStyle = colours[mark];
        context.fillRect(x - w / 2 - grow, y - h / 2 - grow, w + 2 * grow, h + 2 * grow);
        return;
      }
      context.beginPath();
      context.roundRect(x - w / 2, y - h / 2, w, h, node.family === 'border' ? h / 2 : 6);
      context.fill();
      context.lineWidth = mark ? thick : thin;
      context.strokeStyle = mark ? colours[mark] : colours.line;
      if (node.inside !== undefined && !mark) context.setLineDash([4, 3]);
      context.stroke();
      context.setLineDash([]);
      const text = this.texts[i] ??= fittingText(context, node, w - 14);
      context.fillStyle = this.heat?.[i] > 0.55 ? '#fff' : colours.text;
      context.font = kTitleFont;
      context.fillText(text.title, x, node.subtitle ? y - 7.5 : y + 0.5);
      if (!node.subtitle) return;
      context.font = kSubtitleFont;
      context.globalAlpha = 0.75;
      context.fillText(text.subtitle, x, y + 8.5);
      context.globalAlpha = 1;
    });
  }

  /// The whole graph, once for each size and theme.
  drawMap() {
    const dots = devicePixelRatio || 1, width = Math.max(8, this.width * this.mapScale), height = Math.max(8, this.height * this.mapScale);
    this.map.style.width = width + 'px';
    this.map.style.height = height + 'px';
    this.map.width = Math.round(width * dots);
    this.map.height = Math.round(height * dots);
    this.picture = null;
  }
  drawFrame() {
    const context = this.map.getContext('2d'), s = this.mapScale * (devicePixelRatio || 1), colours = this.palette();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.map.width, this.map.height);
    if (!this.picture) {
      this.picture = new Path2D();
      for (const [x, y, w, h] of this.boxes) this.picture.rect((x - w / 2) * s, (y - h / 2) * s, Math.max(w * s, 1), Math.max(h * s, 0.8));
    }
    context.fillStyle = colours.faint;
    context.fill(this.picture);
    for (const [node, mark] of this.marks) this.drawSpot(context, node, colours[mark], s);
    if (this.chosen >= 0) this.drawSpot(context, this.chosen, colours.accent, s);
    context.strokeStyle = colours.accent;
    context.lineWidth = 2;
    context.strokeRect(this.x * s, this.y * s, this.seenWidth() * s, this.seenHeight() * s);
  }
  drawSpot(context, node, colour, s) {
    const [x, y] = this.boxes[node];
    context.fillStyle = colour;
    context.fillRect(x * s - 3, y * s - 2, 6, 4);
  }
}
