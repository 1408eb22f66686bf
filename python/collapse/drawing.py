"""Draws curves, one panel each, with matplotlib if it is installed, else as SVG."""

import html
import math

_WIDE, _HIGH, _LEFT, _TOP, _ACROSS = 300, 190, 62, 26, 3


def draw(curves, axis, file=None, ticks=None):
    """curves: (name, x, y). A matplotlib figure or SVG text, saved to file if one is given."""
    try:
        import matplotlib.figure
    except ImportError:
        text = svg(curves, axis, ticks)
        if file is not None:
            if not str(file).endswith(".svg"):
                raise ImportError("collapse: without matplotlib pictures are SVG; name a file that ends in .svg, not %r" % (str(file),))
            with open(file, "w", encoding="utf-8") as f:
                f.write(text)
        return text
    across = min(_ACROSS, len(curves))
    down = -(-len(curves) // across)
    figure = matplotlib.figure.Figure(figsize=(4 * across, 2.6 * down), layout="constrained")
    for i, (name, x, y) in enumerate(curves):
        panel = figure.add_subplot(down, across, i + 1, title=name, xlabel=axis, yscale="log" if _logarithmic(y) else "linear")
        panel.plot(x, y, marker="o" if len(x) < 30 else None)
        if ticks:
            panel.set_xticks(range(len(ticks)), ticks, rotation=45, ha="right")
    if file is not None:
        figure.savefig(file)
    return figure


def _logarithmic(y):
    finite = [v for v in y if math.isfinite(v)]
    return bool(finite) and min(finite) > 0 and max(finite) > 20 * min(finite)


def svg(curves, axis, ticks=None):
    """One panel per curve; y is logarithmic if the numbers are positive and span more than a factor of 20."""
    across = max(1, min(_ACROSS, len(curves)))
    low = 76 if ticks else 34
    width, height = across * (_LEFT + _WIDE), -(-len(curves) // across) * (_TOP + _HIGH + low)
    parts = ["<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' font-family='sans-serif' font-size='11'>"
             "<rect width='100%%' height='100%%' fill='#fff'/>" % (width, height, width, height)]
    for i, (name, x, y) in enumerate(curves):
        left, top = (i % across) * (_LEFT + _WIDE) + _LEFT, (i // across) * (_TOP + _HIGH + low) + _TOP
        parts.append(_panel(name, x, y, left, top, axis, ticks))
    return "".join(parts) + "</svg>\n"


def _panel(name, x, y, left, top, axis, ticks):
    w, h, logarithmic = _WIDE - 20, _HIGH, _logarithmic(y)
    points = [(a, math.log10(b) if logarithmic else b) for a, b in zip(x, y) if math.isfinite(b)]
    x0, x1 = _span([a for a, _ in points] or [0])
    y0, y1 = _span([b for _, b in points] or [0])
    place = lambda a, b: (left + 6 + (w - 12) * (a - x0) / (x1 - x0), top + h - 6 - (h - 12) * (b - y0) / (y1 - y0))
    out = ["<text x='%d' y='%d' font-weight='bold'>%s</text><rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='#999'/>"
           % (left, top - 8, html.escape(name), left, top, w, h)]
    for v in _marks(y0, y1):
        _, at = place(x0, v)
        out.append("<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#ddd'/><text x='%d' y='%.1f' text-anchor='end'>%.3g</text>"
                   % (left, left + w, at, at, left - 4, at + 4, 10 ** v if logarithmic else v))
    for i, v in enumerate(range(len(ticks)) if ticks else _whole(_marks(x0, x1))):
        at, _ = place(v, y0)
        if ticks:
            out.append("<text transform='translate(%.1f %d) rotate(-40)' text-anchor='end'>%s</text>" % (at + 4, top + h + 12, html.escape(ticks[i])))
        else:
            out.append("<text x='%.1f' y='%d' text-anchor='middle'>%g</text>" % (at, top + h + 14, v))
    if not ticks:
        out.append("<text x='%.1f' y='%d' text-anchor='middle'>%s</text>" % (left + w / 2, top + h + 28, html.escape(axis)))
    line = " ".join("%.1f,%.1f" % place(*p) for p in points)
    out.append("<polyline points='%s' fill='none' stroke='#0b62a4' stroke-width='1.8'/>" % line)
    if len(points) < 30:
        out += ["<circle cx='%.1f' cy='%.1f' r='2.5' fill='#0b62a4'/>" % place(*p) for p in points]
    return "".join(out)


def _span(values):
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2)


def _marks(low, high):
    """About four round numbers between low and high."""
    rough = (high - low) / 4
    step = 10 ** math.floor(math.log10(rough))
    step *= next(m for m in (1, 2, 5, 10) if m * step >= rough)
    first = math.ceil(low / step)
    return [k * step for k in range(first, math.floor(high / step) + 1)]


def _whole(marks):
    return sorted({round(m) for m in marks if abs(m - round(m)) < 1e-9}) or [round(marks[0])]
