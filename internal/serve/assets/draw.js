// Draws figures that package chart defines: curves with uPlot, heat maps and clouds of points with ECharts. A panel that is neither
// keeps the picture that the server drew. Nothing here knows what a figure means.
'use strict';
const draw = (() => {
  const style = () => getComputedStyle(document.documentElement);
  const color = (c) => {
    const names = { 0: 'ink', [-1]: 'muted' };
    const n = c > 0 ? String((c - 1) % 8 + 1) : names[c] || 'muted';
    return style().getPropertyValue('--chart-' + n).trim();
  };
  const role = (name) => style().getPropertyValue('--chart-' + name).trim();
  const alpha = (hex, a) => hex + Math.round(a * 255).toString(16).padStart(2, '0');
  const font = (px) => px + 'px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
  const axisTitle = (a) => a.unit ? a.label + ' (' + a.unit + ')' : a.label;

  const digits = (v) => {
    if (v === null || v === undefined || !isFinite(v)) return '–';
    if (v === 0) return '0';
    const a = Math.abs(v);
    const s = a >= 1e5 || a < 1e-3 ? v.toExponential(2) : v.toPrecision(3);
    return s.replace('-', '−');
  };

  const tickDigits = (v) => v === 0 ? '0' : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? digits(v) : String(Number(v.toPrecision(3))).replace('-', '−');

  // apart writes evenly spaced ticks with the decimals that their step needs.
  const apart = (at) => {
    const size = Math.max(...at.map(Math.abs)), step = at.length > 1 ? at[1] - at[0] : size;
    if (size >= 1e5 || size < 1e-3) return at.map((v) => v === 0 ? '0' : v.toExponential(2).replace(/\.?0+e/, 'e').replaceAll('-', '−'));
    let n = 0;
    while (n < 12 && Math.abs(step * 10 ** n - Math.round(step * 10 ** n)) > 1e-6) n++;
    return at.map((v) => Math.abs(v) < step * 1e-6 ? '0' : v.toFixed(n).replace('-', '−'));
  };

  // logTicks are 1, 2, 5 of each decade, or fewer where there are many decades, or more where there is less than one.
  function logTicks(lo, hi) {
    const decades = Math.log10(hi / lo), out = [];
    const factors = decades > 4 ? [1] : decades > 1.5 ? [1, 3] : decades > 0.5 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
    const step = Math.max(1, Math.ceil(decades / 5));
    for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi)); e++) {
      if (decades > 4 && e % step !== 0) continue;
      for (const f of factors) if (f * 10 ** e >= lo && f * 10 ** e <= hi) out.push(f * 10 ** e);
    }
    return out;
  }

  // kindOf says which library draws a panel: 'curves', 'heat', 'cloud', or '' for the server's picture.
  function kindOf(panel) {
    const of = (...kinds) => panel.series.every((s) => kinds.includes(s.kind));
    if (panel.series.some((s) => s.heat)) return of('heatmap') ? 'heat' : '';
    if (panel.equal && of('points') && panel.series.every((s) => !s.x_lo && !s.y_lo)) return 'cloud';
    const ascending = (s) => !s.x || s.x.every((v, i) => i === 0 || v > s.x[i - 1]);
    if (!panel.equal && of('line', 'band', 'hline', 'vline') && panel.series.every(ascending)) return 'curves';
    return '';
  }

  /* Curves */

  // columns turns series into uPlot's data and series. A band becomes two curves and the space between.
  function columns(panel) {
    const log = panel.y.scale === 'log', tables = [], series = [{}], bands = [];
    const clean = (v) => v.map((y) => (y === null || log && !(y > 0)) ? null : y);
    for (const s of panel.series) {
      if (s.kind === 'band') {
        tables.push([s.x, clean(s.y_hi), clean(s.y_lo)]);
        bands.push({ series: [series.length, series.length + 1], fill: alpha(color(s.color), 0.16) });
        for (const end of ['', '']) series.push({ label: end, width: 0, points: { show: false }, quiet: true });
      } else if (s.kind === 'line') {
        tables.push([s.x, clean(s.y)]);
        const few = s.x.length < 2;
        series.push({ label: s.label || s.id, stroke: alpha(color(s.color), s.faint ? 0.45 : 1), width: s.width || 1.7,
          dash: s.dashed ? [5, 4] : undefined, points: { show: few, size: 6 }, spanGaps: false });
      }
    }
    const data = tables.length ? uPlot.join(tables) : [[], []];
    return { data, series, bands };
  }

  // limits chooses the range of an axis as the server does: given, or the data with a little room.
  function limits(axis, marks) {
    return (u, lo, hi) => {
      if (axis.range) return axis.range;
      if (axis.scale === 'log') {
        if (!(lo > 0) || !(hi > 0)) return [0.1, 1];
        const room = Math.max(Math.log10(hi / lo) * 0.05, 0.05);
        return [10 ** (Math.log10(lo) - room), 10 ** (Math.log10(hi) + room)];
      }
      for (const m of marks) { lo = Math.min(lo, m); hi = Math.max(hi, m); }
      if (axis.zero) { lo = Math.min(lo, 0); hi = Math.max(hi, 0); }
      if (!isFinite(lo) || !isFinite(hi)) return [0, 1];
      const size = Math.max(Math.abs(lo), Math.abs(hi));
      const room = hi - lo > size * 1e-5 ? (hi - lo) * 0.05 : size * 0.1 || 1; // a constant, up to the rounding of float32
      return [lo === 0 ? -room / 2 : lo - room, hi + room];
    };
  }

  // marks draws the references across and down a panel.
  function marks(series) {
    return (u) => {
      const c = u.ctx;
      c.save();
      c.beginPath();
      c.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
      c.clip();
      for (const s of series) {
        c.strokeStyle = color(s.color);
        c.lineWidth = 1.2 * devicePixelRatio;
        c.setLineDash(s.dashed ? [5 * devicePixelRatio, 4 * devicePixelRatio] : []);
        for (const v of (s.kind === 'hline' ? s.y : s.x)) {
          const at = Math.round(u.valToPos(v, s.kind === 'hline' ? 'y' : 'x', true));
          c.beginPath();
          if (s.kind === 'hline') { c.moveTo(u.bbox.left, at); c.lineTo(u.bbox.left + u.bbox.width, at); }
          else { c.moveTo(at, u.bbox.top); c.lineTo(at, u.bbox.top + u.bbox.height); }
          c.stroke();
        }
      }
      c.restore();
    };
  }

  const height = (w) => Math.round(w * 0.6);

  function curves(box, panel, figureID) {
    const made = columns(panel);
    const references = panel.series.filter((s) => s.kind === 'hline' || s.kind === 'vline');
    const ticks = (a) => a.ticks ? { splits: () => a.ticks.map((t) => t.value), values: () => a.ticks.map((t) => t.label) }
      : a.scale === 'log' ? { splits: (u, i, lo, hi) => logTicks(lo, hi), filter: (u, at) => at, values: (u, at) => at.map(tickDigits) } : { values: (u, at) => apart(at) };
    const axis = (a) => ({ stroke: role('muted'), font: font(11), grid: { stroke: role('grid'), width: 1 }, ticks: { stroke: role('grid'), width: 1, size: 4 }, ...ticks(a) });
    const line = (cls, words) => { const p = document.createElement('p'); p.className = cls; p.textContent = words; return p; };
    const readout = line('readout', ''), up = line('axis-y', axisTitle(panel.y) ? '↑ ' + axisTitle(panel.y) : ''), along = line('axis-x', axisTitle(panel.x) + ' →');
    box.append(readout, up);
    const say = (u) => {
      const i = u.cursor.idx;
      if (i === null || i === undefined) { readout.textContent = panel.title || ''; return; }
      const parts = u.series.map((s, k) => k > 0 && !s.quiet && u.data[k][i] != null ? digits(u.data[k][i]) : null).filter((s) => s !== null);
      readout.textContent = (panel.title || '') + ' · ' + (panel.x.label || 'x') + ' ' + digits(u.data[0][i]) + ': ' + parts.join(' | ');
    };
    const wide = box.clientWidth;
    const plot = new uPlot({
      width: wide, height: height(wide), legend: { show: false }, series: made.series, bands: made.bands,
      cursor: { sync: panel.x.label === 'epoch' ? { key: 'epoch' } : undefined, drag: { x: true, y: false }, points: { size: 6 } },
      scales: { x: { time: false, distr: panel.x.scale === 'log' ? 3 : 1, range: limits({ ...panel.x, range: panel.x.range, zero: panel.x.zero }, references.filter((s) => s.kind === 'vline').flatMap((s) => s.x)) },
        y: { distr: panel.y.scale === 'log' ? 3 : 1, range: limits(panel.y, references.filter((s) => s.kind === 'hline').flatMap((s) => s.y)) } },
      axes: [{ ...axis(panel.x), size: 26 }, { ...axis(panel.y), size: (u, labels) => Math.max(50, 16 + 6.6 * Math.max(0, ...(labels || []).map((t) => t.length))) }],
      hooks: { draw: [marks(references)], setCursor: [say] },
    }, made.data, box);
    box.append(along);
    say(plot);
    box.tabIndex = 0;
    box.setAttribute('role', 'img');
    box.setAttribute('aria-label', (panel.title ? panel.title + ': ' : '') + axisTitle(panel.y) + ' against ' + axisTitle(panel.x) + '. Arrow keys read values.');
    box.onkeydown = (e) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (!step || !plot.data[0].length) return;
      const now = plot.cursor.idx;
      const i = Math.min(plot.data[0].length - 1, Math.max(0, now == null ? plot.data[0].length - 1 : now + step));
      plot.setCursor({ left: plot.valToPos(plot.data[0][i], 'x'), top: 10 });
      e.preventDefault();
    };
    let current = panel;
    return {
      shape: shape(panel),
      update(next) { current = next; plot.setData(columns(next).data); say(plot); },
      // extend appends what comes after the last point of each line. It reports whether that was all there is to do.
      extend(next) {
        const lines = next.series.filter((s) => s.kind === 'line').map((s) => [current.series.find((c) => c.id === s.id), s]);
        if (lines.some(([mine]) => !mine)) return false;
        for (const [mine, s] of lines) {
          const from = s.x.findIndex((x) => !(x <= mine.x.at(-1)));
          if (from < 0) continue;
          mine.x.push(...s.x.slice(from));
          mine.y.push(...s.y.slice(from));
        }
        plot.setData(columns(current).data);
        say(plot);
        return true;
      },
      resize() { const w = box.clientWidth; if (w > 0) plot.setSize({ width: w, height: height(w) }); },
      destroy() { plot.destroy(); for (const e of [readout, up, along]) e.remove(); box.onkeydown = null; },
      data: () => plot.data,
    };
  }

  // shape is equal for panels that differ in numbers alone.
  const shape = (panel) => JSON.stringify([kindOf(panel), panel.title, panel.x.scale, panel.y.scale,
    panel.series.map((s) => [s.id, s.kind, s.color, s.dashed, s.kind === 'hline' ? s.y : 0])]);

  /* Heat maps and clouds */

  const tall = (w) => Math.round(w * 0.72);

  let library = null;
  function echartsReady() {
    library = library || new Promise((resolve, reject) => {
      const tag = document.createElement('script');
      tag.src = '/assets/echarts.js';
      tag.onload = () => resolve(window.echarts);
      tag.onerror = () => reject(new Error('ECharts did not load'));
      document.head.append(tag);
    });
    return library;
  }

  const text = () => ({ color: role('ink'), fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif', fontSize: 11 });
  const title = (panel) => panel.title || '';

  function heatOption(panel) {
    const h = panel.series[0].heat;
    const label = (axis, n, lo, hi) => Array.from({ length: n }, (_, i) => {
      const at = lo + (hi - lo) * (i + 0.5) / n;
      const tick = (axis.ticks || []).find((t) => Math.abs(t.value - at) < 0.5 * (hi - lo) / n);
      return tick ? tick.label : axis.ticks ? '' : digits(Math.round(at * 10) / 10);
    });
    const xs = label(panel.x, h.columns, h.x[0], h.x[1]), ys = label(panel.y, h.rows, h.y[0], h.y[1]);
    const z = h.z.filter((v) => v !== null);
    let [lo, hi] = h.range || [Math.min(...z), Math.max(...z)];
    if (!(hi > lo)) hi = lo + 1;
    const axis = (a, names) => ({ type: 'category', data: names, name: axisTitle(a), nameLocation: 'middle', nameGap: a === panel.x ? 24 : 14, axisLabel: { ...text(), color: role('muted') },
      nameTextStyle: text(), axisLine: { lineStyle: { color: role('grid') } }, axisTick: { show: false }, splitArea: { show: false } });
    return {
      animation: false, textStyle: text(),
      grid: { left: 24, right: 36 + 6.6 * Math.max(tickDigits(lo).length, tickDigits(hi).length), top: 10, bottom: 26, containLabel: true },
      tooltip: { ...tip(), formatter: (p) => escape(xs[p.value[0]]) + ', ' + escape(ys[p.value[1]]) + ': <b>' + digits(p.value[2]) + '</b>' },
      xAxis: axis(panel.x, xs), yAxis: axis(panel.y, ys),
      visualMap: { min: lo, max: hi, calculable: true, right: 0, top: 'middle', itemHeight: 120, itemWidth: 12, textStyle: { ...text(), color: role('muted') },
        formatter: tickDigits, inRange: { color: style().getPropertyValue('--chart-heat').trim().split(/\s+/) } },
      series: [{ type: 'heatmap', data: h.z.map((v, i) => [i % h.columns, Math.floor(i / h.columns), v]).filter((d) => d[2] !== null), progressive: 0, emphasis: { itemStyle: { borderColor: role('ink'), borderWidth: 1 } } }],
    };
  }

  const escape = (s) => String(s).replace(/[&<>"]/g, (c) => '&#' + c.charCodeAt(0) + ';');
  const tip = () => ({ confine: true, backgroundColor: role('paper'), borderColor: role('grid'), textStyle: text(), appendTo: null });

  const symbols = { ring: 'circle', dot: 'circle', circle: 'circle', square: 'rect', triangle: 'triangle', diamond: 'diamond', cross: 'path://M-5,-4L-4,-5L0,-1L4,-5L5,-4L1,0L5,4L4,5L0,1L-4,5L-5,4L-1,0Z' };

  // turned projects a point of a cloud that the reader has turned.
  function turned(view, x, y, z) {
    const [a, b] = [view.yaw, view.pitch];
    const u = x * Math.cos(a) + z * Math.sin(a), w = -x * Math.sin(a) + z * Math.cos(a);
    return [u, y * Math.cos(b) - w * Math.sin(b)];
  }

  // spread is the range of a cloud along an axis, with a little room.
  function spread(panel, axis) {
    const all = panel.series.flatMap((s) => s[axis]).filter((v) => v !== null);
    const lo = all.reduce((a, b) => Math.min(a, b), Infinity), hi = all.reduce((a, b) => Math.max(a, b), -Infinity);
    const room = hi > lo ? (hi - lo) * 0.05 : Math.abs(hi) * 0.1 || 0.5;
    return all.length ? [lo - room, hi + room] : [0, 1];
  }

  function cloudOption(panel, box, view) {
    const flat = !view.on;
    let [x, y] = [panel.x.range || spread(panel, 'x'), panel.y.range || spread(panel, 'y')];
    if (!flat) {
      const all = panel.series.flatMap((s) => s.x.map((_, i) => Math.hypot(s.x[i], s.y[i], s.z ? s.z[i] : 0)));
      const r = Math.max(...all, 1e-12) * 1.05;
      const given = Math.max(...[...x, ...y].map(Math.abs), r);
      [x, y] = [[-given, given], [-given, given]];
    }
    const axis = (a, range) => ({ type: 'value', min: range[0], max: range[1], show: flat, scale: true, name: axisTitle(a), nameLocation: 'middle',
      nameGap: a === panel.x ? 24 : 38, nameTextStyle: text(), axisLabel: { ...text(), color: role('muted'), formatter: tickDigits, hideOverlap: true, showMinLabel: false, showMaxLabel: false },
      axisLine: { lineStyle: { color: role('grid') } }, splitLine: { lineStyle: { color: role('grid') } } });
    // A unit has one length on both axes: the range that needs less room gets more, as on the server.
    const grid = { left: 56, right: 14, top: 10, bottom: 40 };
    const unit = Math.max((x[1] - x[0]) / (box.clientWidth - grid.left - grid.right), (y[1] - y[0]) / (tall(box.clientWidth) - grid.top - grid.bottom));
    const widen = (range, length) => { const more = (unit * length - (range[1] - range[0])) / 2; return [range[0] - more, range[1] + more]; };
    x = widen(x, box.clientWidth - grid.left - grid.right);
    y = widen(y, tall(box.clientWidth) - grid.top - grid.bottom);
    return {
      animation: false, textStyle: text(), grid, xAxis: axis(panel.x, x), yAxis: axis(panel.y, y),
      tooltip: { ...tip(), formatter: (p) => escape(p.seriesName) + '<br>' + p.value.slice(0, 2).map(digits).join(', ') },
      series: panel.series.map((s) => ({
        type: 'scatter', name: s.label || s.id, symbol: symbols[s.marker] || 'circle', symbolSize: (s.size || 6) * (s.marker === 'dot' || s.marker === 'cross' ? 1.5 : 1), silent: s.faint === true && s.x.length > 200,
        itemStyle: { color: s.marker === 'ring' ? 'transparent' : color(s.color), opacity: s.faint ? 0.55 : 1, borderWidth: s.marker === 'ring' ? 2 : 0, borderColor: color(s.color) },
        label: s.labels ? { show: s.labels.length <= 12, position: 'right', formatter: (p) => s.labels[p.dataIndex] || '', ...text() } : undefined,
        data: s.x.map((v, i) => flat ? [v, s.y[i]] : turned(view, v, s.y[i], s.z ? s.z[i] : 0)),
      })),
    };
  }

  function chartOf(box, panel) {
    const head = document.createElement('p');
    head.className = 'readout';
    head.textContent = title(panel);
    const area = document.createElement('div');
    area.style.height = tall(box.clientWidth) + 'px';
    box.append(head, area);
    const view = { on: false, yaw: 0.6, pitch: 0.4 };
    let chart = null, current = panel, gone = false;
    const option = () => kindOf(current) === 'heat' ? heatOption(current) : cloudOption(current, box, view);
    const show = () => { if (chart) chart.setOption(option(), true); };
    const ready = echartsReady().then((lib) => {
      if (gone) return;
      chart = lib.init(area);
      show();
    });
    if (kindOf(panel) === 'cloud' && panel.series.some((s) => s.z && s.z.length)) turning(box, area, view, show);
    return {
      shape: shape(panel), ready,
      update(next) { current = next; show(); },
      resize() { if (chart && box.clientWidth > 0) { area.style.height = tall(box.clientWidth) + 'px'; chart.resize(); show(); } },
      destroy() { gone = true; if (chart) chart.dispose(); box.querySelectorAll('.turn').forEach((e) => e.remove()); head.remove(); area.remove(); },
    };
  }

  // turning lets a reader turn a cloud by dragging or with the arrow keys.
  function turning(box, area, view, show) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'turn';
    button.textContent = 'Turn in 3-D';
    button.setAttribute('aria-pressed', 'false');
    button.onclick = () => { view.on = !view.on; button.setAttribute('aria-pressed', String(view.on)); show(); area.focus(); };
    box.prepend(button);
    area.tabIndex = 0;
    area.setAttribute('aria-label', 'Cloud of features; in 3-D the arrow keys turn it');
    let from = null;
    area.addEventListener('pointerdown', (e) => { if (view.on) { from = [e.clientX, e.clientY, view.yaw, view.pitch]; area.setPointerCapture(e.pointerId); } });
    area.addEventListener('pointermove', (e) => {
      if (!from) return;
      view.yaw = from[2] + (e.clientX - from[0]) / 120;
      view.pitch = Math.max(-1.5, Math.min(1.5, from[3] + (e.clientY - from[1]) / 120));
      show();
    });
    area.addEventListener('pointerup', () => { from = null; });
    area.addEventListener('keydown', (e) => {
      const turn = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[e.key];
      if (!view.on || !turn) return;
      view.yaw += turn[0];
      view.pitch += turn[1];
      show();
      e.preventDefault();
    });
  }

  /* Figures */

  const drawn = new Map(); // panel's box → what draws it

  function panelInto(box, panel, figureID) {
    const before = drawn.get(box);
    const kind = kindOf(panel);
    if (before && before.shape === shape(panel)) { before.update(panel); return; }
    if (before) { before.destroy(); drawn.delete(box); }
    if (!kind) return;
    const own = box.querySelector(':scope > svg');
    if (own) own.remove();
    drawn.set(box, kind === 'curves' ? curves(box, panel, figureID) : chartOf(box, panel));
  }

  // figure draws or updates the panels of a figure's element.
  function figure(element, definition) {
    const panels = element.querySelector('.panels');
    panels.classList.toggle('single', definition.panels.length === 1);
    for (const p of definition.panels) {
      let box = panels.querySelector(':scope > [data-panel="' + CSS.escape(p.id) + '"]');
      if (!box) {
        if (!kindOf(p)) continue;
        box = document.createElement('div');
        box.className = 'panel-box';
        box.dataset.panel = p.id;
        panels.append(box);
      }
      panelInto(box, p, definition.id);
    }
    element.dataset.drawn = '';
  }

  // extend appends points to the curves of a figure that is drawn. It reports whether that was all there is to do.
  function extend(element, definition) {
    return definition.panels.map((p) => {
      const d = drawn.get(element.querySelector('.panels > [data-panel="' + CSS.escape(p.id) + '"]'));
      return d && d.extend && d.extend(p);
    }).every(Boolean);
  }

  // extent is the last epoch that the curves of a part of the page show.
  const extent = (part) => Math.max(0, ...[...drawn].filter(([box, d]) => d.data && part.contains(box)).map(([, d]) => d.data()[0].at(-1) || 0));

  // What answers have cost the server, as the milliseconds it asks an open page to wait.
  let owed = 0;
  const charge = (answer) => { owed += Number(answer.headers.get('Collapse-Wait')) || 0; return answer; };
  const settle = () => { const sum = owed; owed = 0; return sum; };

  const load = async (url) => {
    const answer = charge(await fetch(url, { headers: { Accept: 'application/json' } }));
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };

  // enhance fetches a figure's definition and draws it.
  async function enhance(element) { figure(element, await load(element.dataset.json)); }

  function drop(element) {
    for (const box of element.querySelectorAll('[data-panel]')) {
      const d = drawn.get(box);
      if (d) { d.destroy(); drawn.delete(box); }
    }
  }

  // again draws everything anew, in the colours of a new theme.
  async function again() {
    const figures = new Set([...drawn.keys()].map((b) => b.closest('figure')));
    for (const f of figures) { drop(f); await enhance(f).catch(() => {}); }
  }

  let resizing = 0;
  addEventListener('resize', () => { clearTimeout(resizing); resizing = setTimeout(() => drawn.forEach((d) => d.resize()), 120); });

  return { enhance, figure, extend, extent, drop, again, load, charge, settle, drawn, digits };
})();
