"""The race: seconds and memory of every contender on the same files, and their values side by side."""

import json
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
    if tools.has_bench:
        command = [tools.binary, "bench", "measure", "--n", str(n), "--d", str(d), "--k", str(k), "--json"]
        result["bench_measure"] = process.run(command)["answer"]
        print("collapse bench measure:", json.dumps(result["bench_measure"]))
    return result


def race(tools, folder, n, d, k, repeat, big):
    """name -> the fastest run. Contenders take turns, so that a busy spell of the machine meets all of them."""
    # The library is given the batch size it likes best: larger batches are faster until memory is short.
    calls = {"library, batch %d" % b: lambda b=b: tools.library(folder, "--batch", str(b)) for b in ((4096,) if big else (1024, 4096, 16384))}
    calls["numpy, vectorised"] = lambda: tools.papers(folder)
    if tools.has_measure:
        calls["collapse measure"] = lambda: tools.collapse(folder)
        calls["collapse, what both give"] = lambda: tools.collapse(folder, "--measures", BOTH)
    best = {}
    for _ in range(repeat):
        for name, call in calls.items():
            seen = call()
            # Python's contenders: their calls alone, without imports and loading. collapse: the whole process.
            seen["counted"] = sum(seen["answer"]["seconds"].values()) if "seconds" in seen["answer"] else seen["wall"]
            if name not in best or seen["counted"] < best[name]["counted"]:
                best[name] = seen
    samples = max(50, min(2000, 1_000_000_000 // (d * d)))
    loop = tools.papers(folder, "--loop", str(samples))
    loop["counted"] = sum(loop["answer"]["seconds"].values())
    best["numpy, per-sample loop (from %d samples)" % samples] = loop
    return best


def table(contenders):
    ours = contenders.get("collapse measure", {}).get("counted")
    print("%-46s %10s %8s %8s %8s %12s  %s" % ("", "seconds", "ratio", "CPU s", "RSS MB", "less files", "phases"))
    for name, seen in contenders.items():
        phases = ", ".join("%s %.2f" % item for item in seen["answer"].get("seconds", {}).items()) or "whole process"
        ratio = "%.1f" % (seen["counted"] / ours) if ours else "-"
        print("%-46s %10.3f %8s %8.2f %8.0f %12.0f  %s" % (name, seen["counted"], ratio, seen["cpu"], seen["rss_mb"], seen["anon_mb"], phases))
    print("seconds: the library's and numpy's calls alone (imports and loading left out), collapse's whole process; ratio: over collapse measure;\nCPU s: of the whole process and all its threads, which a busy machine disturbs less; less files: peak resident less mapped files")


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
