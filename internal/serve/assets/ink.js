// Shared by curves and clouds: the colours of the page's theme, and the format of numbers.
'use strict';
const ink = (() => {
  const style = () => getComputedStyle(document.documentElement);
  const color = (c) => {
    const names = { 0: 'ink', [-1]: 'muted' };
    const n = c > 0 ? String((c - 1) % 10 + 1) : names[c] || 'muted';
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
    return a >= 1e5 || a < 1e-3 ? power(v.toExponential(2)) : v.toPrecision(3).replace('-', '−');
  };

  // power writes 3e-4 as 3·10⁻⁴, and 1e-4 as 10⁻⁴.
  const power = (s) => s.replace(/^(-?)(?:1(?=e))?/, (_, sign) => sign && '−').replace(/e([+-])(\d+)$/, (_, sign, n) => '·10' + (sign === '-' ? '⁻' : '') + [...n].map((c) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]).join('')).replace(/^(−?)·/, '$1');

  const tickDigits = (v) => v === 0 ? '0' : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? power(Number(v.toPrecision(3)).toExponential()) : String(Number(v.toPrecision(3))).replace('-', '−');

  // apart formats evenly spaced ticks with as many decimals as their step needs.
  const apart = (at) => {
    const size = Math.max(...at.map(Math.abs)), step = at.length > 1 ? at[1] - at[0] : size;
    if (size >= 1e5 || size < 1e-3) return at.map((v) => v === 0 ? '0' : power(v.toExponential(2).replace(/\.?0+e/, 'e')));
    let n = 0;
    while (n < 12 && Math.abs(step * 10 ** n - Math.round(step * 10 ** n)) > 1e-6) n++;
    return at.map((v) => Math.abs(v) < step * 1e-6 ? '0' : v.toFixed(n).replace('-', '−'));
  };

  // Positions of labels, by the rule of internal/chart/scale.go: about as many as wanted, and never fewer than three.
  const fewest = 3;

  const niceStep = (raw) => {
    const p = 10 ** Math.floor(Math.log10(raw));
    return p * ([1, 2, 5].find((m) => raw <= m * p * (1 + 1e-9)) || 10);
  };

  function multiples(lo, hi, step) {
    const out = [];
    for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9 && out.length < 40; i++) out.push(i * step);
    return out;
  }

  // stepOf is the distance between labels of a linear axis.
  function stepOf(lo, hi, want) {
    let step = niceStep((hi - lo) / Math.max(want, fewest));
    for (let i = 0; i < 2 && multiples(lo, hi, step).length < fewest; i++) step = niceStep(step / 2.5);
    return step;
  }

  const ticks = (lo, hi, want) => multiples(lo, hi, stepOf(lo, hi, want));

  function powers(lo, hi, every, factors) {
    const out = [];
    for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi)); e++) {
      if (e % every === 0) for (const f of factors) if (f * 10 ** e >= lo * (1 - 1e-9) && f * 10 ** e <= hi * (1 + 1e-9)) out.push(f * 10 ** e);
    }
    return out;
  }

  function logTicks(lo, hi, want) {
    const decades = Math.log10(hi / lo);
    if (decades < 0.5) return ticks(lo, hi, want);
    if (decades >= 2) {
      for (let every = Math.max(1, Math.ceil(decades / Math.max(want, fewest))); every > 0; every--) {
        const out = powers(lo, hi, every, [1]);
        if (out.length >= fewest) return out;
      }
      return powers(lo, hi, 1, [1, 3]);
    }
    const out = powers(lo, hi, 1, [1, 2, 5]);
    return out.length >= fewest ? out : ticks(lo, hi, want);
  }

  // dashes is the dash pattern of a line: from the fifth colour on, lines differ by more than their colour, as in internal/chart/draw.go.
  const dashes = (s) => s.color > 4 ? (s.dashed ? [2, 3] : [9, 3, 2, 3]) : s.dashed ? [5, 4] : undefined;

  return { style, color, role, alpha, font, axisTitle, digits, tickDigits, apart, ticks, logTicks, dashes };
})();
