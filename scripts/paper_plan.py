"""What each figure at the papers' own size costs, and what that would decide.

usage: paper_plan.py COLLAPSE [RESULTS] > docs/internal/paper-scale.md

A claim needs about as many seeds there as would put its 95 % interval on one side of its limits if value and spread were those of RESULTS
(docs/results/standard). Costs are those of `collapse reproduce ID --scale paper --seeds 1 --dry-run`.
"""

import json
import math
import subprocess
import sys

# Figures on MNIST, those of Nguyen et al. first.
FIGURES = ["md-fig%d" % n for n in range(1, 9)] + ["md-appA.1.1", "tb-fig5", "tb-fig10", "zhu-fig6", "zhu-fig7", "zhu-fig10", "zhou-fig7"]
FEWEST = 5  # seeds of a verdict


def needed(effect):
    """Seeds for a claim; None where the spread is unknown or the value lies on a limit."""
    cells = [effect["pooled"]] if effect.get("mean") and effect.get("pooled") else effect["cells"]
    ends = effect.get("band") or [1.0 if effect["unit"] in ("ratio", "quotient") else 0.0]
    most = FEWEST
    for cell in cells:
        value, lo, hi = cell["value"], cell["lo"], cell["hi"]
        if None in (value, lo, hi):
            return None
        distance, half = min(abs(value - end) for end in ends), max(hi - value, value - lo)
        if distance == 0:
            return None
        most = max(most, math.ceil(cell["seeds"] * (half / distance) ** 2))
    return most if cells and most < 10000 else None


def cost(program, recipe):
    out = subprocess.run([program, "--json", "--lab", "/nonexistent", "reproduce", recipe, "--scale", "paper", "--seeds", "1", "--dry-run"],
                         check=True, capture_output=True, text=True).stdout
    plan = json.loads(out)
    return plan["runs"], plan["hours"]["here"], plan["hours"]["gpu"]


def time(hours):
    return "%.0f h" % hours if hours >= 10 else "%.1f h" % hours if hours >= 1 else "%.0f min" % (60 * hours)


def main(program, results="docs/results/standard"):
    rows = []
    for recipe in FIGURES:
        with open("%s/%s.json" % (results, recipe)) as f:
            claims = [c for c in json.load(f)["claims"] if c.get("effect")]
        seeds = sorted((needed(c["effect"]) or math.inf, c["id"]) for c in claims)
        rows.append((recipe, cost(program, recipe), seeds))
    rows.sort(key=lambda row: row[1][2] / max(1, sum(s <= FEWEST for s, _ in row[2])))
    print("""# The papers' own size: costs and what they decide

Made by `scripts/paper_plan.py collapse`. A claim's seeds are those that would decide it if values and spreads at the papers' size were those of
[scale standard](../results/standard/README.md), where networks and sets are smaller: a guess until some runs are there. Hours are for one seed of every setting, from the
rates of [scale.md](../scale.md): two cores, and one GPU that computes a run at a time. Figures that decide most for an hour come first; 5 seeds are the fewest for a verdict.

`collapse reproduce ID --scale paper --budget 12m` computes seed by seed, stops in time, says what is missing, and goes on with the next call. With `--listen`, machines help each other.

| figure | runs a seed | two cores | one GPU | claims that 5 seeds decide | the others, with their seeds | GPU for 5 seeds |
|---|---|---|---|---|---|---|""")
    for recipe, (runs, here, gpu), seeds in rows:
        few = [name for s, name in seeds if s <= FEWEST]
        more = ["%s %s" % (name, "–" if s == math.inf else s) for s, name in seeds if s > FEWEST]
        print("| %s | %d | %s | %s | %d of %d | %s | %s |" % (recipe, runs, time(here), time(gpu), len(few), len(seeds), ", ".join(more) or "none", time(FEWEST * gpu)))
    print("\nA dash: no number of seeds would, or the spread is not known. Recipes that agree on a run share it, so that their hours do not add up (md-fig1 to md-fig4).")


if __name__ == "__main__":
    main(*sys.argv[1:])
