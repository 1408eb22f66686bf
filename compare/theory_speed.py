#!/usr/bin/env python3
"""Speed of the theory commands: `auto` against own plain descent, seeds of the ReLU figures, a large problem, a sweep.

    go build -o collapse ./cmd/collapse
    python3 compare/theory_speed.py --binary ./collapse [auto relu large sweep]
"""
import argparse
import json
import resource
import subprocess
import time

TB = {  # figure: model, flags, start
    "1": ("mse", "--k 4 --d 20 --n 50 --lw .005 --lh .005 --lb none", "1,1"),
    "2": ("mse", "--k 4 --d 20 --n 50 --lw .005 --lh .005 --lb 0", "1,1"),
    "3": ("linear3", "--k 4 --d 20 --n 50 --l2 .005 --l1 .005 --lh1 .005", ".1,.1,.1"),
    "4": ("relu3", "--k 4 --d 20 --n 50 --l2 .005 --l1 .005 --lh1 .005", ".1,.1,.1"),
    "6": ("mse", "--k 5 --d 20 --n 100 --lw .005 --lh .001 --lb none", "1,1"),
    "7": ("mse", "--k 5 --d 20 --n 100 --lw .005 --lh .001 --lb 0", "1,1"),
    "8": ("linear3", "--k 5 --d 20 --n 100 --l2 .005 --l1 .0025 --lh1 .001", ".1,.1,.1"),
    "9": ("relu3", "--k 5 --d 20 --n 100 --l2 .005 --l1 .0025 --lh1 .001", ".1,.1,.2"),
}
REACHED = 1e-12


def call(binary, *words):
    return json.loads(subprocess.run([binary, "--json", *words], check=True, capture_output=True).stdout)


def solve(binary, figure, optimizer, seed, *more):
    model, flags, start = TB[figure]
    return call(binary, "solve", model, *flags.split(), "--optimizer", optimizer, "--init-scale", start, "--seed", str(seed), *more)


def descent_seconds(binary, figure, seed):
    """Iterations and seconds until plain descent is within REACHED of the optimum; None if never."""
    most, grid = 200_000, 200
    at = ",".join(str(i) for i in range(0, most + 1, most // grid))
    run = solve(binary, figure, "gd", seed, "--step", ".1", "--iters", str(most), "--trace-at", at)
    reached = [t["iteration"] for t in run["found"]["trace"] if t["objective"] - run["exact"]["objective"] < REACHED]
    if not reached:
        return None, None
    # Again without the trace, whose measures would count as descent.
    timed = solve(binary, figure, "gd", seed, "--step", ".1", "--iters", str(reached[0]), "--trace-at", str(reached[0]))
    return reached[0], timed["found"]["seconds"]


def auto(binary, figures, seeds=3):
    print("figure seed   descent to 1e-12        auto to 1e-12               ratio")
    for figure in figures:
        for seed in range(seeds):
            iterations, slow = descent_seconds(binary, figure, seed)
            fast = solve(binary, figure, "auto", seed)["found"]
            text = f"TB {figure}   {seed}      "
            if iterations is None:
                print(text + f"never                  {fast['seconds']*1e3:7.2f} ms, {fast['evaluations']:4d} ev., gap {fast['gap']:.0e}")
                continue
            print(text + f"{iterations:7d} it. {slow:7.3f} s   {fast['seconds']*1e3:7.2f} ms, {fast['evaluations']:4d} ev., gap {fast['gap']:.0e}   {slow/fast['seconds']:6.0f}")


def relu(binary, seeds=40):
    for figure in "49":
        runs = [solve(binary, figure, "auto", seed)["found"] for seed in range(seeds)]
        good = sum(r["gap"] < 1e-10 for r in runs)
        print(f"TB {figure}: auto ends in the global optimum for {good} of {seeds} seeds, {sum(r['seconds'] for r in runs):.2f} s together")


def large(binary):
    words = ("solve", "mse", "--k", "1000", "--n", "50", "--d", "2048", "--lw", "1e-4", "--lh", "1e-4", "--lb", ".01")
    for extra in ((), ("--exact-only",)):
        began = time.perf_counter()
        out = call(binary, *words, *extra)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        certificate = out.get("certificate") or {}
        print(" ".join(words[1:] + extra), f": {time.perf_counter() - began:.3f} s for the process, {peak:.2f} GiB at most so far;",
              {k: certificate.get(k) for k in ("verdict", "gap_bound", "missing") if k in certificate})


def sweep(binary):
    grid = "lw=1e-4,1e-3,1e-2,5e-2,lh=1e-4,1e-3,1e-2,5e-2,alpha=.05,.1,.3,c-md=.3,1,3,eta=.002,.01,.02,.05,.1,.4"
    began, points = time.perf_counter(), 0
    for law in ("circle", "two-point"):
        out = call(binary, "dilation", "--law", law, "--sweep", grid)
        points += len(out["points"])
        print(f"  {law}: {out['inside_assumption']} inside Assumption 4.2, the theorem fails in {out['assumption_holds_theorem_fails']} of them and in {out['theorem_fails_outside']} outside")
    print(f"{points} settings in {time.perf_counter() - began:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("what", nargs="*", default=["auto", "relu", "large", "sweep"], choices=["auto", "relu", "large", "sweep"])
    parser.add_argument("--figures", default="123678", help="of auto")
    args = parser.parse_args()
    for what in args.what:
        if what == "auto":
            auto(args.binary, args.figures)
        else:
            {"relu": relu, "large": large, "sweep": sweep}[what](args.binary)


if __name__ == "__main__":
    main()
