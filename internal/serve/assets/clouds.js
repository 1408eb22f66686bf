// Draws heat maps and clouds of points with ECharts, which is loaded when the first one is drawn.
'use strict';
const clouds = (() => {
  const { style, color, role, axisTitle, digits, tickDigits, ticks } = ink;

  const tall = (w) => Math.round(w * 0.72);

  let library = null;
  function echartsReady() {
    library = library || new Promise((resolve, reject) => {
      const tag = document.createElement('script');
      tag.src = (document.documentElement.dataset.base || '') + '/assets/echarts.js';
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
    const axis = (a, names) => ({ type: 'category', data: names, name: axisTitle(a), nameLocation: 'middle', nameGap: a === panel.x ? 24 : 12 + 6.2 * Math.max(...names.map((n) => n.length)), axisLabel: { ...text(), color: role('muted') },
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

  // turned projects a point of a cloud that the reader has rotated.
  function turned(view, x, y, z) {
    const [a, b] = [view.yaw, view.pitch];
    const u = x * Math.cos(a) + z * Math.sin(a), w = -x * Math.sin(a) + z * Math.cos(a);
    return [u, y * Math.cos(b) - w * Math.sin(b)];
  }

  // spread is the range of a cloud along an axis, plus a margin.
  function spread(panel, axis) {
    const all = panel.series.flatMap((s) => s[axis] || []).filter((v) => v !== null);
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
    // Labels are at the same places as for curves: ECharts would count its own from the end of the axis.
    const axis = (a, range, length) => {
      const at = { customValues: ticks(range[0], range[1], Math.floor(length / 62)) };
      return { type: 'value', min: range[0], max: range[1], show: flat, scale: true, name: axisTitle(a), nameLocation: 'middle',
        nameGap: a === panel.x ? 24 : 38, nameTextStyle: text(), axisLabel: { ...text(), ...at, color: role('muted'), formatter: tickDigits },
        axisTick: at, axisLine: { lineStyle: { color: role('grid') } }, splitLine: { ...at, lineStyle: { color: role('grid') } } };
    };
    // A unit has the same length on both axes: the shorter range is extended, as on the server.
    const grid = { left: 56, right: 14, top: 10, bottom: 40 };
    const unit = Math.max((x[1] - x[0]) / (box.clientWidth - grid.left - grid.right), (y[1] - y[0]) / (tall(box.clientWidth) - grid.top - grid.bottom));
    const widen = (range, length) => { const more = (unit * length - (range[1] - range[0])) / 2; return [range[0] - more, range[1] + more]; };
    x = widen(x, box.clientWidth - grid.left - grid.right);
    y = widen(y, tall(box.clientWidth) - grid.top - grid.bottom);
    return {
      animation: false, textStyle: text(), grid, xAxis: axis(panel.x, x, box.clientWidth - grid.left - grid.right), yAxis: axis(panel.y, y, tall(box.clientWidth) - grid.top - grid.bottom),
      tooltip: { ...tip(), formatter: (p) => escape(p.seriesName) + '<br>' + p.value.slice(0, 2).map(digits).join(', ') },
      series: panel.series.map((s) => ({
        type: 'scatter', name: s.label || s.id, symbol: symbols[s.marker] || 'circle', symbolSize: (s.size || 6) * (s.marker === 'dot' || s.marker === 'cross' ? 1.5 : 1), silent: s.faint === true && s.x.length > 200,
        itemStyle: { color: s.marker === 'ring' ? 'transparent' : color(s.color), opacity: s.faint ? 0.55 : 1, borderWidth: s.marker === 'ring' ? 2 : 0, borderColor: color(s.color) },
        label: s.labels ? { show: s.labels.length <= 12, position: 'right', formatter: (p) => s.labels[p.dataIndex] || '', ...text() } : undefined,
        data: s.x.map((v, i) => flat ? [v, s.y[i]] : turned(view, v, s.y[i], s.z ? s.z[i] : 0)),
      })),
    };
  }

  // written counts the labels of both axes, as drawn, and returns the smallest size of any text.
  function written(chart) {
    const r = chart.getModel().getComponent('grid').coordinateSystem.getRect();
    const words = chart.getZr().storage.getDisplayList().filter((e) => e.style.text);
    const at = words.filter((e) => e.parent && String(e.parent.anid).startsWith('label_')).map((e) => e.getComputedTransform() || e.transform || [0, 0, 0, 0, 0, 0]);
    return { x: at.filter((m) => m[5] > r.y + r.height).length, y: at.filter((m) => m[4] < r.x).length, px: Math.min(...words.map((e) => e.style.fontSize)) };
  }

  function draw(box, panel, kind) {
    const head = document.createElement('p');
    head.className = 'readout';
    head.textContent = title(panel);
    const area = document.createElement('div');
    area.style.height = tall(box.clientWidth) + 'px';
    box.append(head, area);
    const view = { on: false, yaw: 0.6, pitch: 0.4 };
    let chart = null, current = panel, gone = false;
    const option = () => kind === 'heat' ? heatOption(current) : cloudOption(current, box, view);
    const show = () => { if (chart) chart.setOption(option(), true); };
    const ready = echartsReady().then((lib) => {
      if (gone) return;
      chart = lib.init(area);
      show();
    });
    if (kind === 'cloud' && panel.series.some((s) => s.z && s.z.length)) turning(box, area, view, show);
    return {
      ready,
      update(next) { current = next; show(); },
      recolor() { show(); if (chart) chart.getZr().flush(); },
      resize() { if (chart && box.clientWidth > 0) { area.style.height = tall(box.clientWidth) + 'px'; chart.resize(); show(); } },
      labels: () => ({ x: 0, y: 0, ...(chart && written(chart)) }),
      destroy() { gone = true; if (chart) chart.dispose(); box.querySelectorAll('.turn').forEach((e) => e.remove()); head.remove(); area.remove(); },
    };
  }

  // turning lets readers rotate a cloud by dragging or with the arrow keys.
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

  return { draw };
})();
