// SPDX-License-Identifier: Apache-2.0
// Draws the page from the results in it. No library: an axis, a scale and a tooltip are all that the charts need.
'use strict';
const D = JSON.parse(document.getElementById('data').textContent);
const get = id => document.getElementById(id);
const BLOCK = 24;  // lines of a part of the heat map, at most
const LEVELS = ['L1', 'L2', 'L3', 'DRAM'];
const rows = D.rows.map(r => ({
                          kernel: D.kernels[r[0]],
                          target: D.targets[r[1]],
                          n: r[2],
                          ns: r[3],
                          roof: r[4],
                          limit: r[5],
                          items: r[6],
                          bytes: r[7],
                          flops: r[8],
                          spread: r[9]
                        }));

// ------------------------------------------------------------------------------------------ small things

function html(tag, attrs = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs)) k === 'onclick' ? e.onclick = v : e.setAttribute(k, v);
  e.append(...children);
  return e;
}
function svg(tag, attrs = {}, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}
const short = v => v === 0 ? '0' :
    v >= 100               ? v.toFixed(0) :
    v >= 10                ? v.toFixed(1) :
    v >= 0.1               ? v.toFixed(2) :
                             v.toPrecision(2);
function si(v) {
  for (const [size, unit] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
    if (v >= size) return short(v / size) + ' ' + unit;
  return short(v) + ' ';
}
function time(ns) {
  for (const [size, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s']])
    if (ns >= size) return short(ns / size) + ' ' + unit;
  return short(ns) + ' ns';
}
const count = n => n.toLocaleString('en').replaceAll(',', '\u202f');
// Names in camel case may break before a capital.
const breakable = name => name.replace(/([a-z0-9])([A-Z])/g, '$1\u200b$2');
// Marks of an axis are round numbers: no digits behind the point.
const tick = unit => v => si(v).replace(/\.0+ /, ' ') + unit;
const percent = v => Math.round(v * 100) + ' %';
// The measured noise, and the mark of a value whose repetitions are far apart.
const scatters = spread => spread !== null && spread > D.scatters;
const mark = spread => scatters(spread) ? '~' : '';
const noise = spread => spread === null ? '' : `, repetitions ${percent(spread)} apart`;
// True if a kernel's name has every word of the filter.
function passes(kernel) {
  const name = `${kernel.name} ${kernel.family}`.toLowerCase();
  return get('filter').value.toLowerCase().split(/\s+/).every(word => name.includes(word));
}
const unique = list => [...new Set(list)];
const colour = target => `var(--t${D.targets.indexOf(target) % 7})`;
function fill(select, options, chosen, changed) {
  select.replaceChildren(...options.map(([value, text]) => html('option', {value}, text)));
  if (options.some(([value]) => String(value) === String(chosen))) select.value = chosen;
  select.onchange = changed;
}
const titled = (e, text) => {
  e.append(svg('title', {}, text));
  return e;
};

// ------------------------------------------------------------------------------------------ machine

function drawMachine() {
  get('summary').textContent = D.summary;
  get('noise').textContent = D.noise;
  for (const [name, value] of D.facts)
    get('facts').append(html('div', {}, html('dt', {}, name), html('dd', {}, value)));
  const kinds = ['read', 'write', 'copy'], shown = D.targets.filter(t => D.roofs[t]);
  const units = {fma: 'multiply-adds, GFLOP/s', divide: 'quotients, G/s', root: 'roots, G/s'};
  if (!shown.length) return;
  const top = html(
      'tr', {}, html('th', {rowspan: 2}, 'target'), ...Object.values(units).map(u => html('th', {colspan: 2}, u)),
      ...kinds.map(kind => html('th', {colspan: 4}, `${kind}, GB/s`)));
  const keys = Object.keys(units).flatMap(u => [`${u}/f32`, `${u}/f64`])
                   .concat(kinds.flatMap(kind => LEVELS.map(l => `${kind}/${l}`)));
  const head = html('tr', {}, ...keys.map(k => html('th', {}, k.split('/')[1])));
  const body =
      shown.map(t => html('tr', {}, html('td', {}, t), ...keys.map(k => html('td', {}, short(D.roofs[t][k] / 1e9)))));
  get('roofs').append(html('table', {}, html('thead', {}, top, head), html('tbody', {}, ...body)));
}

// ------------------------------------------------------------------------------------------ heat map

const slowest = D.targets[D.targets.length - 1];
const METRICS = {
  roof: {
    text: 'part of the roof',
    bins: [0.1, 0.25, 0.5, 0.75, 0.9],
    show: percent,
    of: r => r.roof,
    note: 'The shortest time that the roofs allow (arithmetic or divisions at the peak, or operands and results ' +
        'moved once at the speed of the level that holds them, whichever takes longest) over the time taken. More ' +
        'than 100 %: the loop that took the roof was disturbed, or the kernel\u2019s data lay closer than assumed.'
  },
  speedup: {
    text: `times faster than ${slowest}`,
    bins: [1, 2, 4, 8, 16],
    show: v => short(v) + '\u00d7',
    of: r => {
      const slow = rows.find(s => s.kernel === r.kernel && s.n === r.n && s.target === slowest);
      return slow && slow.ns / r.ns;
    },
    note: `How much the vector code of a target gains over ${
        slowest}, the last of this run\u2019s targets, for the same call.`
  },
  bandwidth: {
    text: 'GB/s',
    bins: [5, 20, 50, 100, 200],
    show: short,
    of: r => r.bytes / 1e9,
    note: 'Bytes of operands and results a second.'
  },
  time: {
    text: 'ns per element',
    bins: [0.02, 0.05, 0.2, 1, 5],
    show: short,
    of: r => 1e9 / r.items,
    note: 'Time by the elements of the largest operand or result. Darker is slower here.'
  },
};
function drawHeat() {
  const metric = METRICS[get('metric').value], n = Number(get('size').value), dtype = get('dtype').value;
  get('metric-note').textContent = metric.note;
  const labels = metric.bins.map(b => metric.show(b));
  get('scale').replaceChildren(...metric.bins.concat([0]).map(
      (_, i) => html('span', {class: 'h' + i}, i === 0 ? '< ' + labels[0] : '\u2265 ' + labels[i - 1])));
  const found = new Map();
  for (const r of rows)
    if (r.n === n && r.kernel.dtype === dtype && passes(r.kernel)) found.set(r.kernel.name + '|' + r.target, r);
  const cell = (k, t) => {
    const r = found.get(k.name + '|' + t), v = r && metric.of(r);
    if (v === undefined || v === null) return html('td', {class: 'none'}, '\u2013');
    const step = metric.bins.filter(b => v >= b).length;
    return html(
        'td', {
          class: 'h' + step + (scatters(r.spread) ? ' scatters' : ''),
          title:
              `${k.name} on ${t}, ${count(n)} elements: ${time(r.ns)}${noise(r.spread)}, ${percent(r.roof)} of the ` +
              `roof (${r.limit}), ${si(r.bytes)}B/s`
        },
        mark(r.spread) + metric.show(v));
  };
  const blocks = [];
  for (const f of D.families) {
    const kernels = D.kernels.filter(k => k.family === f && D.targets.some(t => found.has(k.name + '|' + t)));
    const part = Math.ceil(kernels.length / Math.ceil(kernels.length / BLOCK));
    for (let i = 0; i < kernels.length; i += part)  // short tables, so that each has its head in sight
      blocks.push(html(
          'table', {}, html('caption', {}, f + (i ? ', continued' : '')),
          html('thead', {}, html('tr', {}, html('th', {}, ''), ...D.targets.map(t => html('th', {scope: 'col'}, t)))),
          html(
              'tbody', {},
              ...kernels.slice(i, i + part)
                  .map(
                      k => html(
                          'tr', {},
                          html(
                              'td', {},
                              html('button', {title: k.name, onclick: () => choose(k.name)}, breakable(k.label))),
                          ...D.targets.map(t => cell(k, t)))))));
  }
  if (!blocks.length) blocks.push(html('p', {class: 'note'}, 'No kernel of this dtype and size has such a name.'));
  get('heat').replaceChildren(...blocks);
}
function choose(name) {
  get('kernel').value = name;
  drawKernel();
  drawRoofline();
  get('h-kernel').scrollIntoView({behavior: 'smooth'});
}

// ------------------------------------------------------------------------------------------ charts with two log axes

function logAxes(box, xs, ys, xTitle, yTitle, xTick = si, yTick = si, xMarks = null) {
  const decade = (list, down) =>
      Math.pow(10, (down ? Math.floor : Math.ceil)(Math.log10(list) + (down ? 1e-9 : -1e-9)));
  const [x0, x1] = [
    xMarks ? Math.min(...xs) / 1.6 : decade(Math.min(...xs), true),
    xMarks ? Math.max(...xs) * 1.6 : decade(Math.max(...xs))
  ];
  const y0 = decade(Math.min(...ys), true), y1 = decade(Math.max(...ys));
  const left = 112, right = box.right, top = 14, bottom = 48;
  const x = v => left + (Math.log10(v / x0) / Math.log10(x1 / x0)) * (box.width - left - right);
  const y = v => box.height - bottom - (Math.log10(v / y0) / Math.log10(y1 / y0)) * (box.height - top - bottom);
  const root = svg('svg', {viewBox: `0 0 ${box.width} ${box.height}`, role: 'img', 'aria-label': box.label});
  const decades = (from, to) => {
    const l = [];
    for (let v = from; v <= to * 1.001; v *= 10) l.push(v);
    return l;
  };
  for (const v of xMarks || decades(x0, x1)) {
    root.append(
        svg('line', {class: 'grid', x1: x(v), x2: x(v), y1: top, y2: box.height - bottom}),
        svg('text', {class: 'soft', x: x(v), y: box.height - bottom + 18, 'text-anchor': 'middle'}, xTick(v)));
  }
  for (const v of decades(y0, y1)) {
    root.append(
        svg('line', {class: 'grid', x1: left, x2: box.width - right, y1: y(v), y2: y(v)}),
        svg('text', {class: 'soft', x: left - 8, y: y(v) + 4, 'text-anchor': 'end'}, yTick(v)));
  }
  root.append(
      svg('text', {x: (left + box.width - right) / 2, y: box.height - 8, 'text-anchor': 'middle'}, xTitle),
      svg('text', {transform: `translate(14 ${(top + box.height - bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle'},
          yTitle));
  return {root, x, y, x0, x1, y0, y1};
}
// Moves labels at one side apart so that none covers another; the list is sorted from top to bottom afterwards.
function spread(labels, step) {
  labels.sort((a, b) => a.y - b.y);
  for (let i = 1; i < labels.length; ++i) labels[i].y = Math.max(labels[i].y, labels[i - 1].y + step);
  return labels;
}

// Charts are drawn for the room that there is, so that their letters keep their size.
const room = (id, most) => Math.max(320, Math.min(most, get(id).clientWidth));

const RATES = {
  items: ['elements a second', '', 'elements/s'],
  bytes: ['bytes a second', 'B/s', 'B/s'],
  flops: ['operations a second', 'FLOP/s', 'operations/s']
};
function drawKernel() {
  const name = get('kernel').value, rate = get('rate').value, unit = RATES[rate][1];
  const mine = rows.filter(r => r.kernel.name === name && r[rate]);
  if (!mine.length)
    return get('lines').replaceChildren(
        html('p', {class: 'note'}, 'This kernel does no arithmetic: choose another rate.'));
  const sizes = unique(mine.map(r => r.n)).sort((a, b) => a - b);
  const c = logAxes(
      {
        width: room('lines', 760),
        height: 400,
        right: 64,
        label: `${name}: ${RATES[rate][0]} over elements, a line per target`
      },
      sizes, mine.map(r => r[rate]), 'elements', RATES[rate][2], count, tick(unit), sizes);
  const ends = [];
  for (const t of D.targets) {
    const line = mine.filter(r => r.target === t).sort((a, b) => a.n - b.n);
    if (!line.length) continue;
    c.root.append(svg('polyline', {
      points: line.map(r => `${c.x(r.n)},${c.y(r[rate])}`).join(' '),
      fill: 'none',
      stroke: colour(t),
      'stroke-width': 2.2
    }));
    for (const r of line)
      c.root.append(titled(
          svg('circle', {cx: c.x(r.n), cy: c.y(r[rate]), r: 4.2, fill: colour(t)}),
          `${t}, ${count(r.n)} elements: ${si(r[rate])}${unit}, ${time(r.ns)}${noise(r.spread)}, ${
              percent(r.roof)} of the roof (${r.limit})`));
    const last = line[line.length - 1];
    ends.push({t, x: c.x(last.n) + 9, y: c.y(last[rate]) + 4});
  }
  for (const e of spread(ends, 15))
    c.root.append(svg('text', {x: e.x, y: e.y, style: `fill:${colour(e.t)};font-weight:600`}, e.t));
  get('lines').replaceChildren(c.root);
  const head =
      html('tr', {}, ...['target', 'elements', 'time', 'apart', 'GB/s', 'roof', 'limit'].map(h => html('th', {}, h)));
  get('kernel-table')
      .replaceChildren(html(
          'table', {}, html('thead', {}, head),
          html(
              'tbody', {},
              ...mine.map(
                  r => html(
                      'tr', {}, html('td', {}, r.target), html('td', {}, count(r.n)),
                      html('td', {}, mark(r.spread) + time(r.ns)),
                      html('td', {}, r.spread === null ? '\u2013' : percent(r.spread)),
                      html('td', {}, short(r.bytes / 1e9)), html('td', {}, percent(r.roof)),
                      html('td', {}, r.limit))))));
}

// ------------------------------------------------------------------------------------------ roofline

// Families differ by colour and, where the colours come round again, by shape.
function marker(i, x, y) {
  const look = {fill: `var(--t${i % 7})`, 'fill-opacity': 0.85};
  if (i < 7) return svg('circle', {cx: x, cy: y, r: 4.6, ...look});
  return svg(
      'rect', {x: x - 4, y: y - 4, width: 8, height: 8, transform: i < 14 ? '' : `rotate(45 ${x} ${y})`, ...look});
}
function drawRoofline() {
  const t = get('roof-target').value, dtype = get('roof-dtype').value, n = Number(get('roof-size').value);
  const roof = D.roofs[t], peak = roof && roof[dtype === 'f64' ? 'fma/f64' : 'fma/f32'];
  const points =
      rows.filter(r => r.target === t && r.kernel.dtype === dtype && r.n === n && r.flops && passes(r.kernel));
  get('families').replaceChildren();
  if (!roof || !points.length)
    return get('roofline').replaceChildren(html('p', {class: 'note'}, 'Nothing to show for this choice.'));
  const at = r => r.flops / r.bytes;
  const c = logAxes(
      {
        width: room('roofline', 1180),
        height: 520,
        right: 24,
        label: `Roofline of ${t}, ${dtype}, ${count(n)} elements`
      },
      points.map(at).concat([0.05, 100]), points.map(r => r.flops).concat([peak * 1.5]), 'operations per byte',
      'operations a second', v => String(Number(v.toPrecision(2))), tick('FLOP/s'));
  for (const level of LEVELS) {
    const slope = roof[`copy/${level}`], knee = peak / slope, from = Math.max(c.x0, c.y0 / slope),
          to = Math.min(knee, c.x1);
    if (from >= to) continue;
    c.root.append(titled(
        svg('line', {
          x1: c.x(from),
          y1: c.y(from * slope),
          x2: c.x(to),
          y2: c.y(to * slope),
          stroke: 'var(--soft)',
          'stroke-width': 1.5,
          'stroke-dasharray': {L1: '', L2: '7 4', L3: '3 3', DRAM: '1 4'}[level]
        }),
        `${level}: ${si(slope)}B/s`));
    const lx = from * 1.08;
    c.root.append(
        svg('text', {
          class: 'soft',
          transform: `translate(${c.x(lx)} ${c.y(lx * slope) - 5}) rotate(${
              - Math.atan2(c.y(from * slope) - c.y(to * slope), c.x(to) - c.x(from)) * 180 / Math.PI})`
        },
            `${level} ${si(slope)}B/s`));
  }
  const first = peak / roof['copy/L1'];
  c.root.append(
      svg('line', {
        x1: c.x(Math.max(first, c.x0)),
        x2: c.x(c.x1),
        y1: c.y(peak),
        y2: c.y(peak),
        stroke: 'var(--ink)',
        'stroke-width': 1.8
      }),
      svg('text', {x: c.x(c.x1), y: c.y(peak) - 7, 'text-anchor': 'end'}, `multiply-adds: ${si(peak)}FLOP/s`));
  const families = D.families.filter(f => points.some(r => r.kernel.family === f)), chosen = get('kernel').value;
  const taken = [];
  for (const r of points.sort((a, b) => b.flops - a.flops)) {
    const px = c.x(at(r)), py = c.y(r.flops);
    c.root.append(titled(
        marker(families.indexOf(r.kernel.family), px, py),
        `${r.kernel.name}: ${si(r.flops)}FLOP/s at ${short(at(r))} operations per byte, ${
            percent(r.roof)} of its roof (${r.limit})`));
    if (r.kernel.name === chosen)
      c.root.append(svg('circle', {cx: px, cy: py, r: 9, fill: 'none', stroke: 'var(--ink)', 'stroke-width': 2}));
    const free = !taken.some(([x, y]) => Math.abs(x - px) < 90 && Math.abs(y - py) < 13) &&
        !points.some(o => o !== r && c.x(at(o)) > px && c.x(at(o)) < px + 80 && Math.abs(c.y(o.flops) - py) < 9);
    if (free || r.kernel.name === chosen) {
      taken.push([px, py]);
      c.root.append(svg('text', {x: px + 8, y: py + 4, 'font-size': 11}, r.kernel.label));
    }
  }
  get('families')
      .append(...families.map((f, i) => html('li', {}, svg('svg', {viewBox: '0 0 12 12'}, marker(i, 6, 6)), f)));
  get('roofline').replaceChildren(c.root);
}

// ------------------------------------------------------------------------------------------ peers, and what is no
// kernel

function drawPeers() {
  const cases = D.peers && D.peers.cases || [];
  if (!cases.length) return get('peers-section').remove();
  const unit = k => k.unit || 'ns';
  get('peers').append(...cases.map(k => {
    const base = k.peers && (k.peers[k.comparator] || Math.min(...Object.values(k.peers))) || k.ours;
    const bars = [
      ['kerngrad', k.ours, k.ours_spread || 0],
      ...Object.entries(k.peers || {}).sort((a, b) => a[1] - b[1]).map(p => [...p, 0])
    ].filter(b => b[1] > 0);
    const most = Math.max(1.3, Math.min(4, Math.max(...bars.map(b => b[1] / base)))), height = 34 + 20 * bars.length;
    const x = v => 112 + Math.min(v, most) / most * 150;
    const title = [k.id, k.name, k.size].filter(v => v !== undefined && v !== '').join(' \u00b7 ');
    const root = svg('svg', {viewBox: `0 0 400 ${height}`, role: 'img', 'aria-label': title});
    root.append(svg('text', {x: 0, y: 14, 'font-weight': 600}, title));
    bars.forEach(([name, value, spread], i) => {
      const y = 24 + 20 * i, ratio = value / base, ours = i === 0;
      const text = unit(k) === 'ns' ? time(value) : `${short(value)} ${unit(k)}`;
      root.append(
          svg('text', {x: 104, y: y + 12, 'text-anchor': 'end', 'font-weight': ours ? 600 : 400}, name),
          titled(
              svg('rect', {
                x: 112,
                y,
                width: Math.max(1, x(ratio) - 112),
                height: 14,
                rx: 2,
                fill: ours ? 'var(--t0)' : 'var(--t4)',
                'fill-opacity': ours ? 1 : 0.55
              }),
              `${name}: ${text}` + (spread ? `, \u00b1 ${percent(spread)}` : '')),
          svg('text', {x: 266, y: y + 12}, ratio > most ? '\u00bb' : ''),  // longer than there is room for
          svg('text', {x: 326, y: y + 12, 'text-anchor': 'end', 'font-weight': ours ? 600 : 400},
              `${mark(spread)}${short(ratio)}\u00d7`),
          svg('text', {class: 'soft', x: 398, y: y + 12, 'text-anchor': 'end'}, text));
      if (ours && k.must)
        root.append(titled(
            svg('line',
                {x1: x(k.must), x2: x(k.must), y1: y - 2, y2: y + 16, stroke: 'var(--ink)', 'stroke-width': 2.5}),
            `at most ${k.must}`));
    });
    root.append(
        svg('line', {x1: x(1), x2: x(1), y1: 22, y2: height - 8, stroke: 'var(--ink)', 'stroke-dasharray': '3 3'}));
    return html('figure', {}, root);
  }));
}
function drawOthers() {
  if (!D.others.length) return get('others-section').remove();
  for (const family of unique(D.others.map(o => o[0]))) {
    const list = D.others.filter(o => o[0] === family), sizes = unique(list.map(o => o[3])).sort((a, b) => a - b);
    const head = html(
        'tr', {}, html('th', {}, `${family}, ${list[0][2]}`), ...sizes.map(n => html('th', {}, 'n = ' + count(n))));
    const body = unique(list.map(o => o[1])).map(name => html('tr', {}, html('td', {}, name), ...sizes.map(n => {
                                                   const o = list.find(o => o[1] === name && o[3] === n);
                                                   return html('td', {}, o ? mark(o[5]) + short(o[4]) : '\u2013');
                                                 })));
    get('others').append(html('table', {}, html('thead', {}, head), html('tbody', {}, ...body)));
  }
}

// ------------------------------------------------------------------------------------------ start

function start() {
  drawMachine();
  drawPeers();
  drawOthers();
  if (!rows.length) return ['h-heat', 'h-kernel', 'h-roofline'].forEach(id => get(id).closest('section').remove());
  const plain = list => list.map(v => [v, v]),
        sizes = unique(rows.map(r => r.n)).sort((a, b) => a - b).map(n => [n, count(n)]);
  const middle = sizes[Math.min(1, sizes.length - 1)][0], dtypes = plain(unique(rows.map(r => r.kernel.dtype)));
  fill(get('metric'), Object.entries(METRICS).map(([k, m]) => [k, m.text]), 'roof', drawHeat);
  fill(get('dtype'), dtypes, 'f32', drawHeat);
  fill(get('size'), sizes, middle, drawHeat);
  fill(get('kernel'), plain(unique(rows.map(r => r.kernel.name)).sort()), 'Exp<f32>', () => {
    drawKernel();
    drawRoofline();
  });
  fill(get('rate'), Object.entries(RATES).map(([k, r]) => [k, r[0]]), 'items', drawKernel);
  fill(get('roof-target'), plain(D.targets), D.targets[0], drawRoofline);
  fill(get('roof-dtype'), dtypes.filter(([d]) => d === 'f32' || d === 'f64'), 'f32', drawRoofline);
  fill(get('roof-size'), sizes, middle, drawRoofline);
  const draw = () => [drawHeat, drawKernel, drawRoofline].forEach(part => part());
  get('filter').oninput = () => {
    const names = unique(rows.filter(r => passes(r.kernel)).map(r => r.kernel.name)).sort();
    if (names.length) fill(get('kernel'), plain(names), get('kernel').value, get('kernel').onchange);
    draw();
  };
  window.onresize = draw;
  draw();
}
start();
