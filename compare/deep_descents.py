#!/usr/bin/env python3
"""`collapse solve deep --relu` against plain descents written apart from it: numpy, and scipy's L-BFGS-B from random starts.

    $(scripts/peers_env.sh) compare/deep_descents.py descend --out ends.jsonl
    $(scripts/peers_env.sh) compare/deep_descents.py compare ends.jsonl --binary ./collapse
    python3 compare/deep_descents.py table --binary ./collapse --share 0.3 --k 3 4 5 6 --layers 2 3 4 5 6

The first call draws settings by seed (K, L, the share of q's threshold, one width for all layers), descends from random starts of four
sizes in each, and appends the lowest value to the file; called again it goes on where it was. The second has the default search of
collapse, half a minute each, reach these values, and exits with 1 if one is missed by more than one part in a million. The third prints
how far below neural collapse the searches of collapse end, as a table of docs/internal/formulas.md (4.1). With --jobs each does several
settings side by side; a search then has two threads.
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # matrices this small gain nothing from threads

SIZES = (0.6, 0.9, 1.3, 2.0)  # of random weights, over 1/sqrt(width)
MISSED = 1e-6  # share of a value by which ours may lie above it


def settings(seed, count):
    """The settings, those with the smallest models first."""
    rng = random.Random(seed)
    out = []
    for number in range(count):
        k, layers = rng.randint(3, 10), rng.randint(2, 6)
        share, width = round(rng.uniform(0.02, 0.98), 2), rng.randint(k, 3 * k)
        out.append(dict(number=number, k=k, layers=layers, share=share, width=width, penalty=share * threshold(layers) / k))
    return sorted(out, key=lambda s: (s["k"] + s["width"] * s["layers"]) * s["width"])


def threshold(layers):
    """The q = K·λ from which zero is optimal in linear models (docs/internal/formulas.md, 4.1)."""
    return (1 / layers) * ((layers - 1) / layers) ** (1 - 2 / (layers + 1))


def model(k, layers, width, penalty):
    """f(x) with its gradient, and the number of variables: the factors are H, W_1, …, W_L."""
    import numpy as np

    shapes = [(width, k)] + [(width, width)] * (layers - 1) + [(k, width)]
    ends = np.cumsum([0] + [a * b for a, b in shapes])

    def objective(x):
        p = [x[ends[i] : ends[i + 1]].reshape(shape) for i, shape in enumerate(shapes)]
        features = [p[0]]
        for w in p[1:-1]:
            features.append(np.maximum(w @ features[-1], 0))
        up = (p[-1] @ features[-1] - np.eye(k)) / k
        value = k / 2 * (up * up).sum() + penalty / 2 * (x @ x)
        slopes = [None] * len(p)
        for i in range(layers, 0, -1):
            slopes[i] = up @ features[i - 1].T
            up = p[i].T @ up
            if i > 1:
                up = up * (features[i - 1] > 0)
        slopes[0] = up
        return value, np.concatenate([s.ravel() for s in slopes]) + penalty * x

    return objective, int(ends[-1])


def lowest(setting, starts, seed):
    """The lowest end of so many descents, its start, and how many ended within one part in a million of it."""
    import numpy as np
    from scipy.optimize import minimize

    objective, size = model(setting["k"], setting["layers"], setting["width"], setting["penalty"])
    rough, fine = dict(maxiter=3000, maxfun=4000, maxcor=20, ftol=1e-11, gtol=1e-8), dict(maxiter=30000, maxfun=60000, maxcor=40, ftol=1e-16, gtol=1e-11)
    rng = np.random.default_rng([seed, setting["number"]])
    ends = []
    for start in range(starts):
        x = rng.standard_normal(size) * SIZES[start % len(SIZES)] / np.sqrt(setting["width"])
        end = minimize(objective, x, jac=True, method="L-BFGS-B", options=rough)
        ends.append((end.fun, start, end.x))
    ends.sort(key=lambda e: e[0])
    ends[:5] = [(end.fun, start, end.x) for end, start in ((minimize(objective, x, jac=True, method="L-BFGS-B", options=fine), start) for _, start, x in ends[:5])]
    value, start, x = min(ends[:5], key=lambda e: e[0])
    return float(value), SIZES[start % len(SIZES)], sum(bool(e[0] < value * (1 + MISSED)) for e in ends), x


def descend(args):
    import numpy as np

    done = {json.loads(line)["number"] for line in open(args.out)} if os.path.exists(args.out) else set()
    # The largest first, so that none is left alone at the end.
    left = [s for s in settings(args.seed, args.count) if s["number"] not in done][:: -1 if args.jobs > 1 else 1]
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        under_way = {pool.submit(lowest, setting, args.starts, args.seed): setting for setting in left}
        for ended in concurrent.futures.as_completed(under_way):
            setting, (value, size, arrived, x) = under_way[ended], ended.result()
            with open(args.out, "a") as out:
                out.write(json.dumps(dict(setting, starts=args.starts, elsewhere=value, size=size, arrived=arrived)) + "\n")
            if args.points:
                os.makedirs(args.points, exist_ok=True)
                np.save(os.path.join(args.points, "%d.npy" % setting["number"]), x)


def searches(args, jobs):
    """The answers of collapse to pairs of a setting and flags, in their order."""
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    if args.jobs > 1:
        os.environ["GOMAXPROCS"] = "2"
    return pool.map(lambda job: search(args.binary, job[0], *job[1]), jobs)


def search(binary, setting, *flags):
    """The answer of collapse to a setting."""
    command = [binary, "--json", "solve", "deep", "--relu", "--n", "1", "--k", str(setting["k"]), "--penalties", repr(setting["penalty"])]
    command += ["--widths", ",".join([str(setting["width"])] * setting["layers"]), *flags]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def compare(args):
    worst, missed, rows = 0.0, 0, 0
    print(" K  L width  q/q*    elsewhere (arrived)   ours         ours/elsewhere  collapse     found from")
    lines = [json.loads(line) for line in open(args.file)]
    for s, answer in zip(lines, searches(args, [(s, ("--seed", str(args.seed))) for s in lines])):
        ours, ratio = answer["explored"]["objective"], answer["explored"]["objective"] / s["elsewhere"]
        rows, worst, missed = rows + 1, max(worst, ratio), missed + (ratio > 1 + MISSED)
        print("%2d %2d %4d   %4.2f   %.9f (%3d)     %.9f  %.7f%s      %.7f    %s" % (s["k"], s["layers"], s["width"], s["share"], s["elsewhere"], s["arrived"],
              ours, ratio, " !" if ratio > 1 + MISSED else "  ", answer["known"]["collapse"], answer["explored"]["from"]), flush=True)
    print("%d settings; the worst is %.7f of the value found elsewhere; %d missed" % (rows, worst, missed))
    return 1 if missed else 0


def table(args):
    print("| K | " + " | ".join("L = %d" % l for l in args.layers) + " |\n" + "|---" * (len(args.layers) + 1) + "|")
    cases = [dict(k=k, layers=layers, width=k, penalty=args.share * threshold(layers) / k) for k in args.k for layers in args.layers]
    answers = searches(args, [(case, ("--starts", str(args.starts))) for case in cases])
    for k in args.k:
        cells = []
        for _ in args.layers:
            answer = next(answers)
            found, collapse = answer["explored"], answer["known"]["collapse"]
            below = 100 * (1 - found["objective"] / collapse)
            cells.append("–" if below < 1e-6 else "%.2f %%, rank %d" % (below, min(found["ranks"])))
        print("| %d | %s |" % (k, " | ".join(cells)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("descend", help="descend from random starts")
    one.add_argument("--out", required=True, help="file of lines, which is continued")
    one.add_argument("--points", help="folder for the lowest points, a numpy file each")
    one.add_argument("--count", type=int, default=40)
    one.add_argument("--starts", type=int, default=200)
    one.add_argument("--seed", type=int, default=42)
    one.set_defaults(run=descend)
    two = commands.add_parser("compare", help="have collapse search the same settings")
    two.add_argument("file")
    two.add_argument("--binary", required=True)
    two.add_argument("--seed", type=int, default=0)
    two.set_defaults(run=compare)
    three = commands.add_parser("table", help="print how far below neural collapse the search ends")
    three.add_argument("--binary", required=True)
    three.add_argument("--share", type=float, default=0.3, help="q over the threshold from which zero is optimal")
    three.add_argument("--k", type=int, nargs="+", default=[3, 4, 5, 6])
    three.add_argument("--layers", type=int, nargs="+", default=[2, 3, 4, 5, 6])
    three.add_argument("--starts", type=int, default=160, help="random starts of each search, without a limit of time")
    three.set_defaults(run=table)
    for command in (one, two, three):
        command.add_argument("--jobs", type=int, default=1, help="settings side by side")
    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
