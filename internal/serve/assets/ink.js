// What curves and clouds share: the colours of the page's theme, and how numbers are written.
'use strict';
const ink = (() => {
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
    return a >= 1e5 || a < 1e-3 ? power(v.toExponential(2)) : v.toPrecision(3).replace('-', '−');
  };

  // power writes 3e-4 as 3·10⁻⁴, and 1e-4 as 10⁻⁴.
  const power = (s) => s.replace(/^(-?)(?:1(?=e))?/, (_, sign) => sign && '−').replace(/e([+-])(\d+)$/, (_, sign, n) => '·10' + (sign === '-' ? '⁻' : '') + [...n].map((c) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]).join('')).replace(/^(−?)·/, '$1');

  const tickDigits = (v) => v === 0 ? '0' : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? power(Number(v.toPrecision(3)).toExponential()) : String(Number(v.toPrecision(3))).replace('-', '−');

  // apart writes evenly spaced ticks with the decimals that their step needs.
  const apart = (at) => {
    const size = Math.max(...at.map(Math.abs)), step = at.length > 1 ? at[1] - at[0] : size;
    if (size >= 1e5 || size < 1e-3) return at.map((v) => v === 0 ? '0' : power(v.toExponential(2).replace(/\.?0+e/, 'e')));
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

  return { style, color, role, alpha, font, axisTitle, digits, tickDigits, apart, logTicks };
})();
