"""The race: seconds and memory of every contender on the same files, and their values side by side."""

import tempfile

import arrays
import process

SETTINGS = {"small": (50_000, 512, 10), "large": (200_000, 2048, 1000)}
# What the library and `collapse` both give, for a race on equal terms.
BOTH = "nc1_pinv,nc1_trace_ratio,cdnv,nc2_means_etf_centred,gnc2_distance,gnc2_log,nc3_gram,nc3_uniform_duality,nc4_ncc_mismatch"
PAIRS = (("nc1_pinv", "nc1_pinv"), ("nc1_quot", "nc1_trace_ratio"), ("nc1_cdnv", "cdnv"), ("nc2_etf_err", "nc2_means_etf_centred"),
         ("nc2g_dist", "gnc2_distance"), ("nc2g_log", "gnc2_log"), ("nc3_dual_err", "nc3_gram"), (None, "trace_within"),
         (None, "trace_between"), (None, "nc2_w"), (None, "nc4_bias"), (None, "accuracy"), (None, "nc4_ncc_mismatch"))


def run(tools, setting, repeat):
    n, d, k = SETTINGS[setting] if setting in SETTINGS else map(int, setting.split(","))
    big = n * d > 100_000_000
    print("\nN=%d d=%d K=%d, float32, %.0f MB of features" % (n, d, k, n * d * 4e-6))
    with tempfile.TemporaryDirectory() as folder:
        arrays.make(folder, n, d, k)
        contenders = race(tools, folder, n, d, k, repeat, big)
    table(contenders)
    values(contenders)
    result = {"n": n, "d": d, "k": k, "machine": process.machine(), "contenders": contenders}
    return result


def race(tools, folder, n, d, k, repeat, big):
    """name -> the fastest run. Contenders take turns, so that a busy spell of the machine meets all of them."""
    # The library is given the batch size it likes best: larger batches are faster until memory is short.
    # Once warm, it is faster, as bench measure is: both take the best of five times in one process, where that is quick.
    again = "1" if big else "5"
    calls = {"library, batch %d" % b: lambda b=b: tools.library(folder, "--batch", str(b), "--repeat", again) for b in ((4096,) if big else (1024, 4096, 16384))}
    calls["numpy, vectorised"] = lambda: tools.papers(folder)
    if tools.has_measure:
        calls["collapse measure"] = lambda: tools.collapse(folder)
        calls["collapse, what both give"] = lambda: tools.collapse(folder, "--measures", BOTH)
    if tools.has_bench:
        made = [tools.binary, "bench", "measure", "--n", str(n), "--d", str(d), "--k", str(k), "--json"]
        calls["collapse bench measure"] = lambda: process.run(made)
        calls["collapse bench measure, what both give"] = lambda: process.run(made + ["--measures", BOTH])
    best = {}
    for _ in range(repeat):
        for name, call in calls.items():
            seen = call()
            seen["counted"] = counted(seen)
            if name not in best or seen["counted"] < best[name]["counted"]:
                best[name] = seen
    samples = max(50, min(2000, 1_000_000_000 // (d * d)))
    loop = tools.papers(folder, "--loop", str(samples))
    loop["counted"] = counted(loop)
    best["numpy, per-sample loop (from %d samples)" % samples] = loop
    return best


def counted(seen):
    """Seconds of the calls alone, without imports and loading, where a contender tells them; else of the whole process."""
    told = seen["answer"].get("seconds", seen["wall"])
    return sum(told.values()) if isinstance(told, dict) else told


def table(contenders):
    ours = contenders.get("collapse measure", {}).get("counted")
    print("%-46s %10s %8s %8s %8s %12s  %s" % ("", "seconds", "ratio", "CPU s", "RSS MB", "less files", "phases"))
    for name, seen in contenders.items():
        told = seen["answer"].get("seconds")
        phases = ", ".join("%s %.2f" % item for item in told.items()) if isinstance(told, dict) else "calls alone" if told else "whole process"
        ratio = "%.1f" % (seen["counted"] / ours) if ours else "-"
        print("%-46s %10.3f %8s %8.2f %8.0f %12.0f  %s" % (name, seen["counted"], ratio, seen["cpu"], seen["rss_mb"], seen["anon_mb"], phases))
    print("seconds: calls alone leave imports and loading out; ratio: over the whole process of collapse measure;\nCPU s: of the whole process and all its threads, which a busy machine disturbs less; less files: peak resident less mapped files")


def values(contenders):
    library = min((seen for name, seen in contenders.items() if name.startswith("library")), key=lambda seen: seen["counted"])["answer"]["values"]
    papers = contenders["numpy, vectorised"]["answer"]["values"]
    ours = contenders.get("collapse measure", {}).get("answer", {}).get("measures", {})
    print("%-24s %14s %14s %14s   %s" % ("measure", "library", "numpy", "collapse", "largest relative difference"))
    for theirs, key in PAIRS:
        row = [library.get(theirs), papers.get(key), ours.get(key)]
        numbers = [x for x in row if isinstance(x, float)]
        spread = max(numbers) - min(numbers)
        relative = "%.1e" % (spread / max(map(abs, numbers))) if spread else "0"
        print("%-24s %14s %14s %14s   %s" % (key, *("%.7g" % x if x is not None else "" for x in row), relative))
