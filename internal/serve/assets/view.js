// How a reader looks at curves: which are hidden, which part of the x axis, linear or logarithmic, how smooth. It applies to all curves of
// the page, lasts while the page is updated, and is kept in the address. Without scripts the server's pictures show everything.
'use strict';
const view = (() => {
  const asked = new URL(location.href).searchParams, scales = ['linear', 'log'], smooths = { none: 0, some: 0.6, much: 0.9 };
  const range = (asked.get('zoom') || '').split('..').map(Number);
  const state = {
    hidden: new Set(asked.getAll('hide')),
    zoom: range.length === 2 && range[0] < range[1] ? range : null,
    scale: scales.includes(asked.get('y')) ? asked.get('y') : '',
    smooth: asked.get('smooth') in smooths ? asked.get('smooth') : 'none',
  };

  function keep() {
    const address = new URL(location.href), put = (name, value) => { if (value) address.searchParams.set(name, value); else address.searchParams.delete(name); };
    put('zoom', state.zoom && state.zoom.map((v) => Number(v.toPrecision(6))).join('..'));
    put('y', state.scale);
    put('smooth', state.smooth === 'none' ? '' : state.smooth);
    address.searchParams.delete('hide');
    for (const label of state.hidden) address.searchParams.append('hide', label);
    history.replaceState(history.state, '', address);
  }

  // smoothed is the exponential moving average of values, without the bias towards 0 at its beginning. Gaps stay.
  function smoothed(y) {
    const keepShare = smooths[state.smooth];
    let sum = 0, weight = 0;
    return y.map((v) => {
      if (v === null) return null;
      sum = keepShare * sum + (1 - keepShare) * v;
      weight = keepShare * weight + (1 - keepShare);
      return sum / weight;
    });
  }

  // of is a panel as the reader wants to see it.
  function of(panel) {
    const lines = panel.series.filter((s) => s.kind === 'line');
    const scale = state.scale === 'log' && !lines.some((s) => s.y.some((v) => v > 0)) ? panel.y.scale : state.scale || panel.y.scale;
    if (scale === panel.y.scale && state.smooth === 'none') return panel;
    const y = { ...panel.y, scale, range: scale === panel.y.scale ? panel.y.range : undefined };
    return { ...panel, y, series: panel.series.map((s) => s.kind === 'line' ? { ...s, y: smoothed(s.y) } : s) };
  }

  const hides = (label) => state.hidden.has(label);

  let change = () => {};

  function set(values) {
    Object.assign(state, values);
    keep();
    tools.forEach((show) => show());
    change();
  }

  // toggle hides a curve or shows it; alone shows only it, or all again if it is the only one.
  function toggle(label, labels, alone) {
    const hidden = new Set(state.hidden), others = labels.filter((l) => l !== label);
    if (alone) {
      const only = !hidden.has(label) && others.every((l) => hidden.has(l));
      hidden.delete(label);
      for (const l of others) { if (only) hidden.delete(l); else hidden.add(l); }
    } else if (hidden.has(label)) { hidden.delete(label); } else { hidden.add(label); }
    set({ hidden });
  }

  const tools = new Map(); // figure → shows its tools as they are now

  // attach gives a figure with curves its tools: buttons above the panels, and a legend that hides and isolates.
  function attach(element, panels) {
    const labels = [...new Set(panels.flatMap((p) => p.series.filter((s) => s.kind === 'line').map((s) => s.label || s.id)))];
    const items = [...element.querySelectorAll('.legend li')].filter((li) => labels.includes(li.textContent.trim()));
    if (items.length > 1) {
      for (const li of items) {
        const label = li.textContent.trim();
        Object.assign(li, { tabIndex: 0, title: 'Hide or show this curve; with Shift, or twice, show it alone',
          onclick: (e) => { if (e.detail < 2) toggle(label, labels, e.shiftKey); else { toggle(label, labels, false); toggle(label, labels, true); } },
          onkeydown: (e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); toggle(label, labels, e.shiftKey); } } });
        li.setAttribute('role', 'button');
      }
    }
    if (!tools.has(element)) {
      const bar = document.createElement('p'), button = (words, act) => { const b = Object.assign(document.createElement('button'), { type: 'button', textContent: words, onclick: act }); bar.append(b); return b; };
      bar.className = 'tools';
      const choose = (words, values, act) => {
        const label = document.createElement('label'), select = document.createElement('select');
        for (const [value, text] of values) select.append(Object.assign(document.createElement('option'), { value, textContent: text }));
        select.onchange = () => act(select.value);
        label.append(words + ' ', select);
        bar.append(label);
        return select;
      };
      const scale = choose('y axis', [['', 'as drawn'], ['linear', 'linear'], ['log', 'logarithmic']], (v) => set({ scale: v }));
      const smooth = choose('smoothing', Object.keys(smooths).map((s) => [s, s]), (v) => set({ smooth: v }));
      const whole = button('Whole range', () => set({ zoom: null })), all = button('All curves', () => set({ hidden: new Set() }));
      element.querySelector('.panels').before(bar);
      tools.set(element, () => {
        scale.value = state.scale;
        smooth.value = state.smooth;
        whole.hidden = !state.zoom;
        all.hidden = state.hidden.size === 0;
        for (const li of element.querySelectorAll('.legend li[role=button]')) li.setAttribute('aria-pressed', String(!state.hidden.has(li.textContent.trim())));
      });
    }
    tools.get(element)();
  }

  return { of, hides, attach, set, zoom: () => state.zoom, onchange: (act) => { change = act; } };
})();
