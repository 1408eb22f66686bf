"""The reference library's own calls (rhubarbwu/neural-collapse), as its README strings them together.

usage: reference_library.py --library DIR --folder DIR [--batch N] [--tile N]

DIR is a checkout of the library; nothing of it is part of this project. Prints one JSON document:
{"load": s, "seconds": {phase: s}, "values": {name: number or "error: ..."}}.
"""

import argparse
import json
import os
import sys
import time
import types
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import torch

import arrays


def import_library(path):
    """The two modules that are used. Without scipy, only the library's "svd" mode fails when it is called."""
    sys.path.insert(0, path)
    try:
        import scipy.sparse.linalg  # noqa: F401
    except ImportError:
        def svds(*_, **__):
            raise RuntimeError("scipy is not installed")
        for name in ("scipy", "scipy.sparse", "scipy.sparse.linalg"):
            sys.modules[name] = types.ModuleType(name)
        sys.modules["scipy.sparse.linalg"].svds = svds
    from neural_collapse import accumulate, kernels, measure
    return accumulate, kernels, measure


def accumulated(lib, data, batch):
    """Means, covariance, variance norms and decisions; returns them with the seconds of each."""
    h, y, w = (torch.from_numpy(np.asarray(data[name])) for name in ("features", "labels", "weights"))
    k, d = w.shape
    seconds, clock = {}, time.perf_counter

    def timed(phase, accumulator, *fixed):
        begin = clock()
        for at in range(0, len(h), batch):
            accumulator.accumulate(h[at:at + batch], y[at:at + batch], *fixed)
        seconds[phase] = clock() - begin
        return accumulator

    means, mg = timed("means", lib.MeanAccumulator(k, d)).compute()
    covariance = timed("covariance", lib.CovarAccumulator(k, d, M=means), means).compute()
    norms, _ = timed("variance norms", lib.VarNormAccumulator(k, d, M=means), means).compute()
    decisions = lib.DecAccumulator(k, d, M=means, W=w)
    decisions.create_index(means)
    decisions = timed("decisions", decisions, w, *(() if decisions.index else (means,)))
    state = {"means": means, "mg": mg, "covariance": covariance, "norms": norms, "decisions": decisions, "w": w}
    if "ood" in data:
        ood = lib.MeanAccumulator(k, d)
        ood.accumulate(torch.from_numpy(np.asarray(data["ood"])), torch.from_numpy(data["ood_labels"]))
        state["mg_ood"] = ood.compute()[1]
    return state, seconds


def measures(measure, kernels, s, tile):
    """name -> function, under the names of the library's README; the last three are its other public functions."""
    m, mg, w = s["means"], s["mg"], s["w"]
    calls = {
        "nc1_pinv": lambda: measure.covariance_ratio(s["covariance"], m, mg),
        "nc1_quot": lambda: measure.covariance_ratio(s["covariance"], m, mg, "quotient"),
        "nc1_cdnv": lambda: measure.variability_cdnv(s["norms"], m, tile_size=tile),
        "nc2_etf_err": lambda: measure.simplex_etf_error(m, mg),
        "nc2g_dist": lambda: kernels.kernel_stats(m, mg, tile_size=tile)[1],
        "nc2g_log": lambda: kernels.kernel_stats(m, mg, kernel=kernels.log_kernel, tile_size=tile)[1],
        "nc3_dual_err": lambda: measure.self_duality_error(w, m, mg),
        "nc3u_uni_dual": lambda: measure.similarities(w, m, mg).var().item(),
        "nc4_agree": lambda: measure.clf_ncc_agreement(s["decisions"]),
        "mean_norms": lambda: measure.mean_norms(m, mg).mean().item(),
        "similarities_cos": lambda: measure.similarities(w, m, mg, cos=True).mean().item(),
        "distance_norms": lambda: measure.distance_norms(w, m, mg).mean().item(),
    }
    if "mg_ood" in s:
        calls["nc5_ood_dev"] = lambda: measure.orthogonality_deviation(m, s["mg_ood"])
    return calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--tile", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=1, help="times that everything is called; the fastest counts")
    parser.add_argument("--svd", action="store_true", help="also its svd mode of NC1, timed apart")
    args = parser.parse_args()
    torch.set_num_threads(os.cpu_count())
    accumulate, kernels, measure = import_library(args.library)
    begin = time.perf_counter()
    data = arrays.load(args.folder)
    loaded = time.perf_counter() - begin
    with torch.no_grad():
        seconds = None
        for _ in range(args.repeat):
            state, took = accumulated(accumulate, data, args.batch)
            begin, values = time.perf_counter(), {}
            for name, call in measures(measure, kernels, state, args.tile or None).items():
                values[name] = attempt(call)
            took["measures"] = time.perf_counter() - begin
            seconds = min((x for x in (seconds, took) if x), key=lambda x: sum(x.values()))
        if args.svd:
            values["nc1_svd"] = attempt(lambda: measure.covariance_ratio(state["covariance"], state["means"], state["mg"], "svd"))
    json.dump({"load": loaded, "seconds": seconds, "values": values}, sys.stdout)


def attempt(call):
    try:
        return call()
    except Exception as e:
        return "error: %s: %s" % (type(e).__name__, str(e).splitlines()[0] if str(e) else "")


if __name__ == "__main__":
    main()
