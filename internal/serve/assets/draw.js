// Draws figures defined by package chart: curves with uPlot, heat maps and clouds of points with ECharts. Any other panel
// keeps the picture that the server drew. Nothing here depends on the meaning of a figure.
'use strict';
const draw = (() => {
  // kindOf says how to draw a panel: 'curves', 'heat', 'cloud', or '' for the server's picture.
  function kindOf(panel) {
    const of = (...kinds) => panel.series.every((s) => kinds.includes(s.kind));
    if (panel.series.some((s) => s.heat)) return of('heatmap') ? 'heat' : '';
    if (panel.equal && of('points') && panel.series.every((s) => !s.x_lo && !s.y_lo)) return 'cloud';
    const ascending = (s) => !s.x || s.x.every((v, i) => i === 0 || v > s.x[i - 1]);
    if (!panel.equal && of('line', 'band', 'hline', 'vline') && panel.series.every(ascending)) return 'curves';
    return '';
  }

  // shape is equal for panels that differ only in their numbers.
  const shape = (panel) => JSON.stringify([kindOf(panel), panel.title, panel.x.scale, panel.y.scale,
    panel.series.map((s) => [s.id, s.kind, s.color, s.dashed, s.kind === 'hline' ? s.y : 0])]);

  const drawn = new Map(); // panel's box → its drawing

  function panelInto(box, panel) {
    const before = drawn.get(box);
    const kind = kindOf(panel), now = kind === 'curves' ? shape(view.of(panel)) : shape(panel);
    if (before && before.shape === now) { before.update(panel); before.panel = panel; return; }
    if (before) { before.destroy(); drawn.delete(box); }
    if (!kind) return;
    const own = box.querySelector(':scope > svg');
    if (own) own.remove();
    drawn.set(box, { shape: now, panel, ...(kind === 'curves' ? curves.draw(box, panel) : clouds.draw(box, panel, kind)) });
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
      panelInto(box, p);
    }
    const lines = definition.panels.filter((p) => kindOf(p) === 'curves');
    if (lines.length) view.attach(element, lines);
    element.dataset.drawn = '';
  }

  // Curves follow what the reader wants to see of them.
  view.onchange(() => { for (const [box, d] of [...drawn]) if (kindOf(d.panel) === 'curves') panelInto(box, d.panel); });

  // extend appends points to the curves of a drawn figure. It returns whether nothing else has changed.
  function extend(element, definition) {
    return definition.panels.map((p) => {
      const d = drawn.get(element.querySelector('.panels > [data-panel="' + CSS.escape(p.id) + '"]'));
      return d && d.extend && d.extend(p);
    }).every(Boolean);
  }

  // extent is the last epoch shown by the curves in a part of the page.
  const extent = (part) => Math.max(0, ...[...drawn].filter(([box, d]) => d.last && part.contains(box)).map(([, d]) => d.last()));

  // The cost of answers to the server, as the milliseconds that it asks an open page to wait.
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

  // again redraws everything in the current colours of the page.
  const again = () => drawn.forEach((d) => d.recolor());

  let resizing = 0, width = innerWidth; // for which panels were drawn
  addEventListener('resize', () => { clearTimeout(resizing); resizing = setTimeout(() => { drawn.forEach((d) => d.resize()); width = innerWidth; }, 120); });
  const fits = () => width === innerWidth;

  return { enhance, figure, extend, extent, drop, again, load, charge, settle, drawn, fits };
})();
