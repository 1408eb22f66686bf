"""Values in random settings: equal where conventions agree, explained where not."""

import tempfile

import numpy as np

import arrays
import conventions

# The library computes in float32: sums of thousands of terms, one-hot products, a float32 pseudo-inverse.
LIBRARY_RELATIVE, LIBRARY_ABSOLUTE = 1e-3, 2e-6
# Ours accumulates in float64; products of residuals may be formed in float32 when their bound is below 1e-5.
OURS_RELATIVE, OURS_ABSOLUTE = 1e-5, 1e-9
# Two definitions are one if they differ by no more than rounding in float64.
SAME = 1e-9


# Collapsed features far from the origin, within-class spread a millionth of the common mean: float32 still holds the
# features, but not the sums of thousands of them.
HARD = tuple({"n": 1000 * k, "d": d, "k": k, "seed": 90, "spread": 1e-3, "offset": 1000.0, "ood": 30 * k} for d, k in ((2, 2), (16, 10), (64, 10)))


def setting(seed):
    """A random problem. Widths take turns and every third is imbalanced, so that ten meet d < K−1 as well as d > K."""
    rng = np.random.default_rng(1000 + seed)
    k = int(rng.choice([2, 3, 5, 10, 20, 40]))
    d = (64, 256, 16, 2, 8)[seed % 5]
    return {"n": k * int(rng.integers(20, 200)), "d": d, "k": k, "seed": seed, "spread": float(10 ** rng.uniform(-2, 0)),
            "offset": float(rng.uniform(0, 3)), "imbalance": float(rng.uniform(2, 10)) if seed % 3 == 2 else 1.0, "ood": k * 30}


def run(tools, seeds):
    counts, results = {}, []
    for number, s in enumerate([setting(seed) for seed in range(seeds)] + list(HARD)):
        hard = number >= seeds
        print("\nsetting %d%s: N=%d d=%d K=%d spread=%.3g offset=%.4g imbalance=%.2g"
              % (number, " (hard for float32)" if hard else "", s["n"], s["d"], s["k"], s["spread"], s["offset"], s.get("imbalance", 1)))
        with tempfile.TemporaryDirectory() as folder:
            arrays.make(folder, **s)
            stats = conventions.Stats(arrays.load(folder))
            library = tools.library(folder, "--tile", "0", "--svd")["answer"]["values"]
            runs = None
            if tools.has_measure:
                runs = {"sample": tools.collapse(folder)["answer"], "class": tools.collapse(folder, "--imbalance", "class")["answer"],
                        "nobias": tools.collapse(folder, bias=False)["answer"]}
        for row in conventions.ROWS:
            seen = judge(row, stats, library, runs, hard)
            results.append({"setting": s, "library": row.library, "key": row.key, **seen})
            counts[seen["verdict"]] = counts.get(seen["verdict"], 0) + 1
            if seen["verdict"] != "equal":
                print("  %-16s %-58s library %-13s collapse %-13s %s" % (row.library, row.key, show(seen["value_library"]), show(seen["value_ours"]), seen["text"]))
    failed = sum(count for verdict, count in counts.items() if verdict.startswith("FAIL"))
    print("\n%d comparisons: %s" % (len(results), ", ".join("%d %s" % (count, verdict) for verdict, count in sorted(counts.items()))))
    print("FAILED" if failed else "every number is equal or has its documented reason" if tools.has_measure else
          "without `collapse measure` this compared the library with its definitions only")
    return {"failed": failed, "counts": counts, "results": results}


def judge(row, stats, library, runs, hard):
    """Compares one row. Each program is held to its own definition in float64; if both definitions are one, so are the numbers."""
    theirs, lib, mine = library[row.library], row.lib(stats), row.mine(stats)
    ours = row.ours(runs) if runs else None
    seen = {"value_library": theirs, "value_ours": ours, "definition_library": float(lib), "definition_ours": float(mine)}
    if ours is not None and not near(ours, mine, OURS_RELATIVE, OURS_ABSOLUTE):
        return {**seen, "verdict": "FAIL: collapse", "text": "our definition in float64 gives %.9g" % mine}
    if isinstance(theirs, str):
        return {**seen, "verdict": "library fails", "text": theirs}
    if not near(theirs, lib, LIBRARY_RELATIVE, LIBRARY_ABSOLUTE):
        # Rounding is a documented reason for the pseudo-inverse, and for everything where it was asked for.
        known = hard or row.library in ("nc1_pinv", "nc1_svd")
        return {**seen, "verdict": "library's float32" if known else "FAIL: library", "text": "its definition in float64 gives %.9g: off by a factor of %.3g" % (lib, theirs / lib)}
    if near(lib, mine, SAME, SAME):
        return {**seen, "verdict": "equal", "text": ""}
    return {**seen, "verdict": "another convention", "text": row.reason} if row.reason else {**seen, "verdict": "FAIL: no reason", "text": ""}


def near(a, b, relative, absolute):
    return abs(a - b) <= relative * abs(b) + absolute


def show(x):
    return "%.6g" % x if isinstance(x, (int, float)) else "-"
