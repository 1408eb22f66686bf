// Draws panels of curves with uPlot.
'use strict';
const curves = (() => {
  // Curves of a panel are those that the reader wants to see (view.js).
  const { color, role, alpha, font, axisTitle, digits, tickDigits, apart, ticks, logTicks, dashes } = ink;

  // lineOf is the name of the curve that a band belongs to.
  const lineOf = (panel, band) => (panel.series.find((s) => s.kind === 'line' && s.id === band.id.replace(/^band-/, 'mean-')) || {}).label;

  // columns turns series into uPlot's data and series. A band becomes two curves and the space between.
  function columns(panel) {
    const log = panel.y.scale === 'log', tables = [], series = [{}], bands = [];
    const clean = (v) => v.map((y) => (y === null || log && !(y > 0)) ? null : y);
    // A band whose lower edge is not above 0 reaches down to the least value that a logarithmic axis shows.
    const least = log && panel.series.some((s) => s.kind === 'band') ? Math.min(...panel.series.flatMap((s) => [s.y, s.y_lo, s.y_hi].flatMap((v) => v || [])).filter((y) => y > 0)) : 0;
    const edge = (s) => clean(s.y_lo.map((y, i) => log && y !== null && !(y > 0) && s.y_hi[i] > 0 ? least : y));
    for (const s of panel.series) {
      if (s.kind === 'band') {
        tables.push([s.x, clean(s.y_hi), edge(s)]);
        bands.push({ series: [series.length, series.length + 1], fill: () => alpha(color(s.color), 0.16) });
        for (const end of ['', '']) series.push({ label: end, width: 0, points: { show: false }, quiet: true, show: !view.hides(s.label || lineOf(panel, s)) });
      } else if (s.kind === 'line') {
        tables.push([[...s.x], clean(s.y)]); // extend appends to s.x; drawn data must not change before it is redrawn
        const few = s.x.length < 2;
        series.push({ label: s.label || s.id, stroke: () => alpha(color(s.color), s.faint ? 0.45 : 1), width: s.width || 1.7,
          dash: dashes(s), points: { show: few, size: 6 }, spanGaps: false, show: !view.hides(s.label || s.id) });
      }
    }
    const data = tables.length ? uPlot.join(tables) : [[], []];
    return { data, series, bands };
  }

  // limits chooses the range of an axis as the server does: the given range, or that of the data plus a margin.
  function limits(axis, marks, zoomed) {
    return (u, lo, hi) => {
      if (zoomed && view.zoom()) return view.zoom();
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
      const room = hi - lo > size * 1e-4 ? (hi - lo) * 0.05 : size * 0.1 || 1; // otherwise a constant, as in internal/chart/scale.go
      return [lo === 0 ? -room / 2 : lo - room, hi + room];
    };
  }

  // marks draws the horizontal and vertical reference lines of a panel.
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
        c.setLineDash((dashes(s) || []).map((d) => d * devicePixelRatio));
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

  const height = (w) => Math.round(w * (w > 700 ? 0.45 : 0.6));

  // named is a line of the cursor's read-out: a sample of the curve, its name, its value.
  function named(v) {
    const row = document.createElement('tr'), swatch = document.createElement('td'), name = document.createElement('td'), value = document.createElement('td');
    const sample = document.createElement('span');
    sample.style.borderTop = '3px ' + (v.s.dash ? 'dashed ' : 'solid ') + (typeof v.s.stroke === 'function' ? v.s.stroke() : v.s.stroke);
    swatch.append(sample);
    name.textContent = v.s.label;
    value.textContent = digits(v.y);
    row.append(swatch, name, value);
    return row;
  }

  // Plots out of view store new data, and are drawn when they come into view.
  const seeing = new Map(); // panel's box → function to call
  const sight = new IntersectionObserver((seen) => { for (const s of seen) seeing.get(s.target)?.(s.isIntersecting); });
  addEventListener('beforeprint', () => seeing.forEach((see) => see(true)));

  function draw(box, given) {
    const panel = view.of(given), made = columns(panel);
    const references = panel.series.filter((s) => s.kind === 'hline' || s.kind === 'vline');
    const want = (u, side) => side === 0 ? u.bbox.width / devicePixelRatio / 62 : u.bbox.height / devicePixelRatio / 40;
    const places = (a) => a.ticks ? { splits: () => a.ticks.map((t) => t.value), values: () => a.ticks.map((t) => t.label) }
      : a.scale === 'log' ? { splits: (u, side, lo, hi) => logTicks(lo, hi, Math.floor(want(u, side))), filter: (u, at) => at, values: (u, at) => at.map(tickDigits) }
        : { splits: (u, side, lo, hi) => ticks(lo, hi, Math.floor(want(u, side))), values: (u, at) => apart(at) };
    const muted = () => role('muted'), faint = () => role('grid'); // looked up at each drawing: paper and screen differ
    const axis = (a) => ({ stroke: muted, font: font(11), grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1, size: 4 }, ...places(a) });
    const line = (cls, words) => { const p = document.createElement('p'); p.className = cls; p.textContent = words; return p; };
    const readout = line('readout', ''), up = line('axis-y', axisTitle(panel.y) ? '↑ ' + axisTitle(panel.y) : ''), along = line('axis-x', axisTitle(panel.x) + ' →');
    box.append(readout, up);
    const values = document.createElement('table');
    values.className = 'values';
    values.hidden = true;
    const say = (u) => {
      const i = u.cursor.idx, there = i !== null && i !== undefined;
      readout.textContent = (panel.title || '') + (there ? (panel.title ? ' · ' : '') + (panel.x.label || 'x') + ' ' + digits(u.data[0][i]) : '');
      const read = there ? u.series.map((s, k) => ({ s, y: k > 0 && !s.quiet && s.show ? u.data[k][i] : null })).filter((v) => v.y != null) : [];
      values.hidden = read.length === 0;
      values.replaceChildren(...read.sort((a, b) => b.y - a.y).map(named));
      const right = u.cursor.left > u.bbox.width / devicePixelRatio / 2;
      values.style.left = right ? '' : u.cursor.left + u.bbox.left / devicePixelRatio + 14 + 'px';
      values.style.right = right ? box.clientWidth - u.cursor.left - u.bbox.left / devicePixelRatio + 14 + 'px' : '';
    };
    // chosen zooms every panel against epochs to what the reader has drawn a frame around, and other panels alone.
    const chosen = (u) => {
      if (panel.x.label !== 'epoch' || !(u.select.width > 2)) return;
      view.set({ zoom: [u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')] });
    };
    const wide = box.clientWidth;
    const plot = new uPlot({
      width: wide, height: height(wide), legend: { show: false }, series: made.series, bands: made.bands,
      cursor: { sync: panel.x.label === 'epoch' ? { key: 'epoch' } : undefined, drag: { x: true, y: false, setScale: panel.x.label !== 'epoch' }, bind: { dblclick: () => () => { view.set({ zoom: null }); return null; } }, points: { size: 6 } },
      scales: { x: { time: false, distr: panel.x.scale === 'log' ? 3 : 1, range: limits({ ...panel.x, range: panel.x.range, zero: panel.x.zero }, references.filter((s) => s.kind === 'vline').flatMap((s) => s.x), panel.x.label === 'epoch') },
        y: { distr: panel.y.scale === 'log' ? 3 : 1, range: limits(panel.y, references.filter((s) => s.kind === 'hline').flatMap((s) => s.y)) } },
      axes: [{ ...axis(panel.x), size: 26 }, { ...axis(panel.y), size: (u, labels) => Math.max(50, 16 + 6.6 * Math.max(0, ...(labels || []).map((t) => t.length))) }],
      hooks: { draw: [marks(references)], setCursor: [say], setSelect: [chosen] },
    }, made.data, box);
    const larger = Object.assign(document.createElement('button'), { type: 'button', className: 'turn larger', textContent: 'Enlarge' });
    larger.onclick = () => {
      larger.textContent = box.classList.toggle('large') ? 'Reduce' : 'Enlarge';
      plot.setSize({ width: box.clientWidth, height: height(box.clientWidth) });
    };
    box.append(along, values, larger);
    say(plot);
    box.tabIndex = 0;
    box.setAttribute('role', 'img');
    box.setAttribute('aria-label', (panel.title ? panel.title + ': ' : '') + axisTitle(panel.y) + ' against ' + axisTitle(panel.x) + '. Arrow keys read values' + (panel.x.label === 'epoch' ? '; plus, minus and 0 zoom.' : '.'));
    // nearer shows a part of the epochs around the cursor, a factor of those now in sight; all of them if that is more.
    const nearer = (factor) => {
      const x = plot.data[0], scale = plot.scales.x, width = (scale.max - scale.min) * factor;
      const middle = plot.cursor.idx == null ? (scale.min + scale.max) / 2 : x[plot.cursor.idx];
      view.set({ zoom: width < x.at(-1) - x[0] ? [middle - width / 2, middle + width / 2] : null });
    };
    box.onkeydown = (e) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key], factor = panel.x.label === 'epoch' && { '+': 0.5, '=': 0.5, '-': 2, 0: Infinity }[e.key];
      if (!step && !factor || !plot.data[0].length || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      if (factor) { nearer(factor); return; }
      const now = plot.cursor.idx;
      const i = Math.min(plot.data[0].length - 1, Math.max(0, now == null ? plot.data[0].length - 1 : now + step));
      plot.setCursor({ left: plot.valToPos(plot.data[0][i], 'x'), top: 10 });
    };
    let current = given, seen = true, stale = false;
    const show = () => {
      stale = !seen;
      if (seen) { plot.setData(columns(view.of(current)).data); say(plot); }
    };
    seeing.set(box, (now) => { seen = now; if (stale) show(); });
    sight.observe(box);
    return {
      update(next) {
        current = next;
        plot.series.forEach((s, k) => { if (k > 0 && s.show !== columns(view.of(current)).series[k].show) plot.setSeries(k, { show: !s.show }); });
        show();
      },
      recolor() { plot.redraw(false); },
      // extend appends the data after the last point of each line. It returns whether nothing else has changed.
      extend(next) {
        const lines = next.series.filter((s) => s.kind === 'line').map((s) => [current.series.find((c) => c.id === s.id), s]);
        if (lines.some(([mine]) => !mine)) return false;
        for (const [mine, s] of lines) {
          const from = s.x.findIndex((x) => !(x <= mine.x.at(-1)));
          if (from < 0) continue;
          mine.x.push(...s.x.slice(from));
          mine.y.push(...s.y.slice(from));
        }
        show();
        return true;
      },
      resize() { const w = box.clientWidth; if (w > 0) plot.setSize({ width: w, height: height(w) }); },
      destroy() { sight.unobserve(box); seeing.delete(box); plot.destroy(); for (const e of [readout, up, along, values, larger]) e.remove(); box.onkeydown = null; },
      data: () => plot.data, // as drawn
      labels: () => ({ x: plot.axes[0]._values.filter(Boolean).length, y: plot.axes[1]._values.filter(Boolean).length, px: Math.min(...plot.axes.map((a) => parseFloat(a.font[0]) / devicePixelRatio)) }),
      last: () => Math.max(0, ...current.series.map((s) => s.kind === 'line' && s.x.at(-1) || 0)),
    };
  }

  return { draw };
})();
