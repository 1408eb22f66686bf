// What a reader could not see or read on the page as it is shown now: every problem once, as a sentence, and every axis with its labels.
((print) => {
  const problems = new Map();
  const blame = (what, element, words) => {
    const at = element.closest('[data-figure]') || element.closest('[id]'), key = what + (at ? ' in #' + at.id : '') + ', ' + element.tagName.toLowerCase() + (element.className && element.className.baseVal === undefined ? '.' + String(element.className).split(' ')[0] : '');
    if (!problems.has(key)) problems.set(key, key + (words ? ': ' + words.trim().slice(0, 60) : ''));
  };

  const wide = document.scrollingElement.scrollWidth;
  if (wide > innerWidth) {
    problems.set('wide', `${wide} px wide`);
    for (const e of document.body.querySelectorAll('*')) {
      if (e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll, pre, svg') && ![...e.children].some((c) => c.getBoundingClientRect().right > innerWidth + 1)) blame('reaches beyond the screen', e, e.textContent);
    }
  }

  const numbers = (color) => {
    const v = (color.match(/-?[\d.]+(e-?\d+)?/g) || []).map(Number);
    const unit = color.startsWith('color(') ? 255 : 1;
    return v.length < 3 ? [0, 0, 0, 0] : [v[0] * unit, v[1] * unit, v[2] * unit, v.length > 3 ? v[3] : 1];
  };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const paper = new Map();
  const behind = (e) => {
    if (!e) return [255, 255, 255, 1];
    if (!paper.has(e)) paper.set(e, over(numbers(getComputedStyle(e).backgroundColor), behind(e.parentElement)));
    return paper.get(e);
  };
  const shown = new Map([[null, 1]]);
  const opacity = (e) => { // with that of all it is in
    if (!shown.has(e)) shown.set(e, Number(getComputedStyle(e).opacity) * opacity(e.parentElement));
    return shown.get(e);
  };
  const light = (c) => [0, 1, 2].reduce((sum, i) => { const v = c[i] / 255; return sum + [0.2126, 0.7152, 0.0722][i] * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
  // under is what the middle of a picture's text stands on: a heat map's colour there, or the picture's ground.
  const under = (text, ground) => {
    const svg = text.ownerSVGElement, b = text.getBBox(), at = svg.createSVGPoint();
    [at.x, at.y] = [b.x + b.width / 2, b.y + b.height / 2];
    const map = [...svg.querySelectorAll('image')].find((m) => { const r = m.getBBox(); return at.x > r.x && at.x < r.x + r.width && at.y > r.y && at.y < r.y + r.height; });
    if (!map) return ground;
    const r = map.getBBox(), area = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    area.drawImage(map, 0, 0, 300, 150);
    const [red, green, blue, alpha] = area.getImageData(300 * (at.x - r.x) / r.width, 150 * (at.y - r.y) / r.height, 1, 1).data;
    return over([red, green, blue, alpha / 255], ground);
  };

  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let n = nodes.nextNode(); n; n = nodes.nextNode()) {
    const e = n.parentElement;
    if (!n.data.trim() || e.closest('title, desc, script, style, noscript, option, .skip') || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    range.selectNodeContents(n);
    const rects = range.getClientRects(), box = rects.length === 1 ? rects[0] : range.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) continue;
    const style = getComputedStyle(e), svg = e.ownerSVGElement;
    let size = parseFloat(style.fontSize);
    if (svg) { const m = e.getScreenCTM(); size *= Math.sqrt(Math.abs(m.a * m.d - m.b * m.c)); }
    if (size < 10.99) blame(`text of ${size.toFixed(1)} px`, e, n.data);
    const color = numbers(svg ? style.fill : style.color);
    color[3] *= opacity(e);
    for (const ground of [behind(svg || e)].concat(print ? [[255, 255, 255, 1]] : [])) { // printers leave grounds out
      const full = svg ? under(e, ground) : ground, c = contrast(over(color, full), full);
      if (c < 4.495) blame(`contrast of ${c.toFixed(2)}`, e, n.data);
    }
    if (!svg && rects.length > 1) {
      const parts = (at, text) => { range.setStart(n, at); range.setEnd(n, at + text.length); return [...range.getClientRects()]; };
      for (const token of n.data.matchAll(/\S{3,}/g)) {
        const pieces = parts(token.index, token[0]);
        if (pieces.length < 2 || pieces.reduce((sum, p) => sum + p.width, 0) > 140) continue; // it is whole, or may have to be broken
        for (const word of token[0].matchAll(/[\p{L}\p{N}]{3,}/gu)) {
          const lines = parts(token.index + word.index, word[0]);
          if (lines.length > 1 && lines.at(-1).top - lines[0].top > size / 2) blame('a word is broken', e, word[0]);
        }
      }
    }
  }

  const axes = [];
  for (const group of document.querySelectorAll('.panel > .axes')) {
    const texts = [...group.querySelectorAll('text')], name = { figure: (group.closest('[data-figure]') || {}).dataset?.figure || '', panel: group.closest('.panel').dataset.panel };
    const labels = (anchor) => texts.filter((t) => t.getAttribute('text-anchor') === anchor && !t.textContent.endsWith('→')).length;
    axes.push({ ...name, x: labels('middle'), y: labels('end') });
  }
  if (typeof draw === 'object') { // a constant of the page's scripts, which is not a property of the window
    for (const [box, d] of draw.drawn) {
      const labels = d.labels();
      axes.push({ figure: box.closest('figure').dataset.figure, panel: box.dataset.panel, ...labels });
      if (!(labels.px > 10.99)) blame(`drawn text of ${labels.px} px`, box); // of a canvas, which has no text to look at
    }
  }
  return { problems: [...problems.values()], axes };
})
