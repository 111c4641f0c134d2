// The steps as a table, and under a roofline.
'use strict';

function buildSteps(section) {
  const total = data.totals.cost_ns || 1, slowest = Math.max(1e-9, ...data.steps.map(step => step.cost_ns));
  const slowestMeasured = Math.max(1e-9, ...data.steps.map(step => number(measuredNs(step))));
  const columns = [
    {name: '#', text: step => String(step.number), value: step => step.number},
    {name: 'kernel', text: step => '\u00a0\u00a0'.repeat(step.depth) + step.label},
    ...(data.device_arena ? [{name: 'on', title: 'Where the step runs', text: step => step.device === 'gpu' ? 'GPU' : 'host'}] : []),
    {name: 'what', text: step => step.what},
    {name: 'MACs', title: 'Multiply-adds', text: step => step.macs ? short(count(step.macs), 24) : '', value: step => number(step.macs)},
    {name: 'bytes', title: 'Read and written', text: step => step.bytes ? short(bytes(step.bytes), 24) : '', value: step => number(step.bytes)},
    {
      name: 'weights',
      title: 'Bytes of constants that the step reads',
      text: step => step.weight_bytes ? short(bytes(step.weight_bytes), 24) : '',
      value: step => number(step.weight_bytes)
    },
    {
      name: 'predicted',
      title: 'On one thread',
      text: step => duration(step.cost_ns || NaN),
      value: step => step.cost_ns,
      fill: step => step.cost_ns / slowest
    },
    {name: 'share', title: 'Of the predicted time', text: step => step.cost_ns ? percent(step.cost_ns / total) : '', value: step => step.cost_ns},
  ];
  if (measured.size)
    columns.push({
      name: 'measured',
      title: 'Mean of a call',
      text: step => duration(measuredNs(step)),
      value: step => number(measuredNs(step)),
      fill: step => number(measuredNs(step)) / slowestMeasured
    });
  for (const name of counted() ? ['instructions', 'cycles'] : []) {
    const most = Math.max(1, ...data.steps.map(step => step[name] ?? 0));
    columns.push({
      name,
      title: 'Of all calls in a run, counted in an emulator',
      text: step => step[name] ? count(step[name]) : '',
      value: step => step[name] ?? 0,
      fill: step => (step[name] ?? 0) / most
    });
  }
  columns.push({
    name: 'GMAC/s',
    title: measured.size ? 'Measured' : 'Predicted',
    text: step => speed(step) ? digits(speed(step)) : '',
    value: step => speed(step)
  });
  const table = sortableTable(columns, data.steps, {link: step => selection.step(step.number - 1)});
  const filter = element('input', {
    type: 'search',
    placeholder: 'Only steps with',
    'aria-label': 'Filter',
    input: () => {
      const wanted = filter.value.toLowerCase();
      table.filter(step => (step.label + '\n' + step.what + '\n' + step.value).toLowerCase().includes(wanted));
    }
  });
  section.append(...roofline(), element('div', {class: 'toolbar', style: 'padding: 0 0 8px'}, filter), table);
}

/// GMAC/s, as measured where it was, else as predicted; 0 where it is not known.
function speed(step) {
  const time = measuredNs(step) ?? step.cost_ns;
  return known(step.macs) && time > 0 ? step.macs / time : 0;
}

/// GMAC/s over MACs for each byte, both axes logarithmic. The roof is the machine's where it was measured, else that of the fastest rows of the catalogue.
function roofline() {
  const points = data.steps.filter(step => number(step.macs) > 0 && number(step.bytes) > 0 && speed(step) > 0);
  if (!points.length || !data.roofline) return [element('p', {class: 'faint'}, 'No roofline: no step has multiply-adds of a known number.')];
  const peak = data.profile?.peak_gmacs || data.roofline.peak_gmacs, slope = data.roofline.gbytes, width = 1100, height = 330, left = 60, bottom = 40,
        top = 14, right = 20;
  const xs = points.map(step => step.macs / step.bytes), ys = points.map(speed);
  const span = (values, least) => {
    const low = Math.floor(Math.log10(Math.min(...values))), high = Math.ceil(Math.log10(Math.max(...values) * 1.15));
    return [low, Math.max(high, low + least)];
  };
  const [x0, x1] = span([...xs, peak / slope], 1), [y0, y1] = span([...ys, peak], 1);
  const x = value => left + (width - left - right) * (Math.log10(value) - x0) / (x1 - x0),
        y = value => height - bottom - (height - bottom - top) * (Math.log10(value) - y0) / (y1 - y0);
  const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'roofline', style: `max-width: ${width * 1.3}px`});
  for (let power = x0; power <= x1; ++power)
    picture.append(
        svg('line', {class: 'grid', x1: x(10 ** power), x2: x(10 ** power), y1: top, y2: height - bottom}),
        svg('text', {x: x(10 ** power), y: height - bottom + 15, 'text-anchor': 'middle'}, String(+(10 ** power).toPrecision(1))));
  for (let power = y0; power <= y1; ++power)
    picture.append(
        svg('line', {class: 'grid', x1: left, x2: width - right, y1: y(10 ** power), y2: y(10 ** power)}),
        svg('text', {x: left - 6, y: y(10 ** power) + 4, 'text-anchor': 'end'}, String(+(10 ** power).toPrecision(1))));
  picture.append(
      svg('text', {x: (left + width - right) / 2, y: height - 6, 'text-anchor': 'middle'}, 'multiply-adds for each byte read or written'),
      svg('text', {x: 14, y: height / 2, 'text-anchor': 'middle', transform: `rotate(-90 14 ${height / 2})`},
          measured.size ? 'GMAC/s, measured' : 'GMAC/s, predicted'));
  const begin = Math.max(10 ** x0, 10 ** y0 / slope), knee = Math.min(peak / slope, 10 ** x1);
  picture.append(
      svg('path', {
        class: 'roof',
        d: `M${x(begin)} ${y(begin * slope)} L${x(knee)} ${y(knee * slope)} L${x(10 ** x1)} ${y(Math.min(peak, 10 ** x1 * slope))}`
      }),
      svg('text', {x: left + 8, y: top + 14},
          `roof: ${digits(peak)} GMAC/s, ${data.profile?.peak_gmacs ? 'measured' : 'predicted for the fastest kernel'}, and ${digits(slope)} GB/s`));
  const time = step => measuredNs(step) ?? step.cost_ns, most = Math.max(...points.map(time));
  for (const step of points.slice().sort((a, b) => time(b) - time(a))) {
    const radius = 3 + 11 * Math.sqrt(time(step) / most), at = x(step.macs / step.bytes);
    if (measured.has(step.number - 1) && step.cost_ns)
      picture.append(svg('circle', {class: 'predicted', cx: at, cy: y(step.macs / step.cost_ns), r: 3}));
    picture.append(svg('circle', {
      cx: at,
      cy: y(speed(step)),
      r: radius.toFixed(1),
      style: `fill: var(--${family(step.label)}); fill-opacity: 0.85`,
      pointermove: event =>
          tip.show(event, `step ${step.number}, ${step.label}\n${short(step.what, 200)}\n${digits(speed(step))} GMAC/s, ${duration(time(step))}`),
      pointerleave: () => tip.hide(),
      click: () => {
        tip.hide();
        selection.step(step.number - 1);
      }
    }));
  }
  const rest = data.steps.filter(step => !points.includes(step)).reduce((sum, step) => sum + step.cost_ns, 0);
  const above = points.some(step => speed(step) > 1.2 * peak) ?
      ' Winograd takes fewer multiplications than the convolution has, so its steps may lie above the roof.' :
      '';
  const text = `Size: time.${above} Steps without multiply-adds are not drawn; they take ${
                   percent(rest / (data.totals.cost_ns || 1))} of the predicted time.` +
      (measured.size ? ' Small rings: predicted.' : '');
  return [element('div', {class: 'panel'}, element('h2', {}, 'Roofline'), picture, element('div', {class: 'faint'}, text))];
}
