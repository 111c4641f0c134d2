// Text that fits into boxes, edges, and colours for amounts.
'use strict';

const kTitleFont = '600 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif',
      kSubtitleFont = '10px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

function fittingText(context, node, width) {
  const fit = (text, font) => {
    context.font = font;
    text = text.slice(0, 80);
    if (context.measureText(text).width <= width) return text;
    while (text && context.measureText(text + '…').width > width) text = text.slice(0, -1);
    return text + '…';
  };
  return {title: fit(node.title, kTitleFont), subtitle: fit(node.subtitle, kSubtitleFont)};
}

/// Traces give the last point and the direction there: [x, y, dx, dy].
function traceCurve(path, c) {
  path.moveTo(c[0], c[1]);
  for (let i = 2; i + 5 < c.length; i += 6) path.bezierCurveTo(c[i], c[i + 1], c[i + 2], c[i + 3], c[i + 4], c[i + 5]);
  const n = c.length;
  let k = n - 4;  // the last point that differs
  while (k > 0 && c[k] === c[n - 2] && c[k + 1] === c[n - 1]) k -= 2;
  return [c[n - 2], c[n - 1], c[n - 2] - c[k], c[n - 1] - c[k + 1]];
}
/// From below a to above b. A long one swings aside, past the boxes between.
function traceEdge(path, a, b) {
  const x0 = a[0], y0 = a[1] + a[3] / 2, x1 = b[0], y1 = b[1] - b[3] / 2, length = y1 - y0;
  const aside = length > 110 ? Math.min(50 + length / 5, 400) : 0, bend = Math.max(16, length * 0.4);
  path.moveTo(x0, y0);
  path.bezierCurveTo(x0 + aside, y0 + bend, x1 + aside, y1 - bend, x1, y1);
  return [x1, y1, -aside, bend];
}
function traceHead(path, [x, y, dx, dy]) {
  const length = Math.hypot(dx, dy) || 1, ux = dx / length, uy = dy / length;
  path.moveTo(x, y);
  path.lineTo(x - 6 * ux + 3 * uy, y - 6 * uy - 3 * ux);
  path.lineTo(x - 6 * ux - 3 * uy, y - 6 * uy + 3 * ux);
  path.closePath();
}

/// From pale to red; `part` of the most, by its root so that small ones differ.
function heatColour(part) {
  const p = Math.sqrt(Math.max(0, Math.min(1, part)));
  const dark = document.documentElement.classList.contains('dark');
  return dark ? `hsl(${220 - 215 * p} ${20 + 55 * p}% ${24 + 18 * p}%)` : `hsl(${48 - 43 * p} ${70 + 15 * p}% ${95 - 47 * p}%)`;
}
