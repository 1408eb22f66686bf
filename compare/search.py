"""The search of settings against random settings, Optuna and Ray: six functions with known minima, two made learning curves, 20 seeds each.

    go build -o asks compare/asks.go
    $(scripts/peers_env.sh) compare/search.py --asks ./asks


Each function is tried at 50 settings, one after the other: our Gaussian process (`sampler = "bayes"`, `schedule = "full"`,
`batch = 1`), settings
at random, Optuna's TPE sampler with its defaults. Each learning curve goes to 27 epochs: our search with its defaults (Gaussian process, Hyperband)
and 60 trials, and then, each with as many epochs as ours took at that seed, random settings to their last epoch, Optuna's TPE with its
SuccessiveHalvingPruner, and Ray's ASHAScheduler over four random trials side by side, as Ray starts them. What is compared is the logarithm of the
distance to the minimum, of a curve that of the chosen settings' loss at epoch 27 without noise: paired over seeds, mean difference and 95 %
interval (Student's t). "Behind" is an interval wholly above 0. compare/asks.go is the search of the program's studies, with values from here
in place of runs.
"""
import json
import math
import random

EPOCHS, CURVE_TRIALS, TRIALS = 27, 60, 50


def branin(x):
    a = x[1] - 5.1 / (4 * math.pi**2) * x[0] ** 2 + 5 / math.pi * x[0] - 6
    return a * a + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0]) + 10


def goldstein_price(x):
    a, b = x
    one = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a * a - 14 * b + 6 * a * b + 3 * b * b)
    return one * (30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a * a + 48 * b - 36 * a * b + 27 * b * b))


def hartmann(a, p, x):
    sums = (sum(u * (v - w) ** 2 for u, v, w in zip(row, x, at)) for row, at in zip(a, p))
    return -sum(alpha * math.exp(-s) for alpha, s in zip((1, 1.2, 3, 3.2), sums))


A3 = ((3, 10, 30), (0.1, 10, 35), (3, 10, 30), (0.1, 10, 35))
P3 = ((0.3689, 0.1170, 0.2673), (0.4699, 0.4387, 0.7470), (0.1091, 0.8732, 0.5547), (0.0381, 0.5743, 0.8828))
A6 = ((10, 3, 17, 3.5, 1.7, 8), (0.05, 10, 17, 0.1, 8, 14), (3, 3.5, 1.7, 10, 17, 8), (17, 8, 0.05, 10, 0.1, 14))
P6 = ((0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886), (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
      (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650), (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381))


def rosenbrock(x):
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))


def ackley(x):
    n = len(x)
    return 20 + math.e - 20 * math.exp(-0.2 * math.sqrt(sum(v * v for v in x) / n)) - math.exp(sum(math.cos(2 * math.pi * v) for v in x) / n)


# name: function, ranges, minimum
FUNCTIONS = {
    "Branin": (branin, [(-5, 10), (0, 15)], 0.39788735772973816),
    "Goldstein-Price": (goldstein_price, [(-2, 2)] * 2, 3.0),
    "Hartmann 3": (lambda x: hartmann(A3, P3, x), [(0, 1)] * 3, -3.8627821),
    "Hartmann 6": (lambda x: hartmann(A6, P6, x), [(0, 1)] * 6, -3.3223681),
    "Rosenbrock 4": (rosenbrock, [(-2, 2.5)] * 4, 0.0),
    "Ackley 5": (ackley, [(-10, 15)] * 5, 0.0),
}


def plain(lr, wd, epoch):
    """Settings keep their order from the first epoch to the last."""
    return 0.1 + 0.08 * (math.log10(lr) + 1.5) ** 2 + 0.03 * (math.log10(wd) + 3.5) ** 2 + epoch**-0.7


def crossing(lr, wd, epoch):
    """Small learning rates are slow and end lower: the order of epoch 1 is nearly that of epoch 27 turned round."""
    steps = math.log10(lr) + 2.5
    return 0.1 + 0.05 * max(steps, 0) ** 2 + 0.03 * (math.log10(wd) + 3.5) ** 2 + math.exp(-epoch / (9 * 10 ** (-0.5 * steps)))


CURVES = {"curves that keep their order": plain, "curves that cross": crossing}
LR, WD = (1e-4, 1.0), (1e-6, 1e-1)


def noisy(name, lr, wd, epoch, seed):
    return CURVES[name](lr, wd, epoch) + 0.01 * random.Random(f"{name} {lr!r} {wd!r} {epoch} {seed}").gauss(0, 1)


import argparse
import subprocess
import warnings


def log_draw(r, low, high):
    return math.exp(r.uniform(math.log(low), math.log(high)))


class Ours:
    """The program's own search, answered by this one: compare/asks.go."""

    def __init__(self, asks):
        self.asks = asks

    def run(self, config, value):
        with subprocess.Popen([self.asks], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
            print(json.dumps(config), file=p.stdin, flush=True)
            for line in p.stdout:
                job = json.loads(line)
                if "Best" in job:
                    return job
                print(json.dumps(-value(job["Point"], job["Budget"])), file=p.stdin, flush=True)
        raise RuntimeError("the search has ended early")

    def function(self, name, seed):
        f, ranges, _ = FUNCTIONS[name]
        space = [{"Name": f"x{i}", "Low": low, "High": high} for i, (low, high) in enumerate(ranges)]
        config = dict(Space=space, Sampler="bayes", Schedule="full", Trials=TRIALS, Budget=1, Batch=1, Seed=seed)
        return -self.run(config, lambda x, _: f(x))["Value"]

    def curve(self, name, seed):
        """Returns the chosen settings' final loss and the epochs spent."""
        space = [{"Name": key, "Scale": 1, "Low": low, "High": high} for key, (low, high) in (("lr", LR), ("wd", WD))]
        config = dict(Space=space, Sampler="bayes", Schedule="hyperband", Trials=CURVE_TRIALS, Budget=EPOCHS, MinBudget=1, Eta=3, Batch=4, Seed=seed)
        end = self.run(config, lambda x, epoch: noisy(name, *x, epoch, seed))
        return CURVES[name](*end["Best"], EPOCHS), end["Spent"]


def random_function(name, seed):
    f, ranges, _ = FUNCTIONS[name]
    r = random.Random(f"random {name} {seed}")
    return min(f([r.uniform(*at) for at in ranges]) for _ in range(TRIALS))


def tpe_function(name, seed):
    import optuna
    f, ranges, _ = FUNCTIONS[name]
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(lambda t: f([t.suggest_float(f"x{i}", *at) for i, at in enumerate(ranges)]), n_trials=TRIALS)
    return study.best_value


def random_curve(name, seed, budget):
    r = random.Random(f"random {name} {seed}")
    tried = [(log_draw(r, *LR), log_draw(r, *WD)) for _ in range(math.ceil(budget / EPOCHS))]
    lr, wd = min(tried, key=lambda at: noisy(name, *at, EPOCHS, seed))
    return CURVES[name](lr, wd, EPOCHS)


def halving_curve(name, seed, budget):
    """Optuna's TPE and successive halving. It ends once the budget is spent and a trial has reached the last epoch."""
    import optuna
    left = [budget]

    def objective(t):
        lr, wd = t.suggest_float("lr", *LR, log=True), t.suggest_float("wd", *WD, log=True)
        for epoch in range(1, EPOCHS + 1):
            value = noisy(name, lr, wd, epoch, seed)
            left[0] -= 1
            t.report(value, epoch)
            if epoch < EPOCHS and t.should_prune():
                raise optuna.TrialPruned()
        return value

    def ended(study, _):
        if left[0] <= 0 and study.get_trials(states=[optuna.trial.TrialState.COMPLETE]):
            study.stop()

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed),
                                pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3))
    study.optimize(objective, n_trials=10_000, callbacks=[ended])
    return CURVES[name](study.best_params["lr"], study.best_params["wd"], EPOCHS)


def asha_curve(name, seed, budget):
    """Ray's scheduler decides; its trials take turns, four at a time, without Ray's processes."""
    from ray.tune.experiment import Trial
    from ray.tune.schedulers import ASHAScheduler, TrialScheduler
    r = random.Random(f"asha {name} {seed}")
    scheduler = ASHAScheduler(time_attr="epoch", metric="loss", mode="min", max_t=EPOCHS, grace_period=1, reduction_factor=3)
    running, done, left = [], {}, budget

    def start():
        t = Trial("search", stub=True)
        scheduler.on_trial_add(None, t)
        running.append([t, (log_draw(r, *LR), log_draw(r, *WD)), 0])

    while left > 0 or not done:
        while len(running) < 4:
            start()
        for one in list(running):
            t, at, epoch = one
            one[2] = epoch = epoch + 1
            left -= 1
            result = {"epoch": epoch, "training_iteration": epoch, "loss": noisy(name, *at, epoch, seed)}
            if epoch < EPOCHS and scheduler.on_trial_result(None, t, result) == TrialScheduler.CONTINUE:
                continue
            running.remove(one)
            if epoch == EPOCHS:
                done[at] = result["loss"]
                scheduler.on_trial_complete(None, t, result)
    return CURVES[name](*min(done, key=done.get), EPOCHS)


def t_quantile(df):
    from scipy.stats import t
    return t.ppf(0.975, df)


def compare(ours, theirs, least):
    """The mean difference of log10 distances to the minimum, ours minus theirs, and half its 95 % interval."""
    d = [math.log10(max(a - least, 1e-9)) - math.log10(max(b - least, 1e-9)) for a, b in zip(ours, theirs)]
    mean = sum(d) / len(d)
    sd = math.sqrt(sum((x - mean) ** 2 for x in d) / (len(d) - 1))
    return mean, t_quantile(len(d) - 1) * sd / math.sqrt(len(d))


def verdict(mean, half):
    return "behind" if mean - half > 0 else "ahead" if mean + half < 0 else "even"


def least_of(curve):
    """The minimum at the last epoch, by a fine grid."""
    at = [10 ** (-4 + i / 250) for i in range(1001)]
    return min(CURVES[curve](lr, 10**-3.5, EPOCHS) for lr in at)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--asks", required=True, help="the program compare/asks.go")
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--first", type=int, default=0, help="the first seed")
    p.add_argument("--only", help="one problem")
    p.add_argument("--json", help="also write all results to this file")
    a = p.parse_args()
    import optuna
    import ray
    import scipy
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore")
    print(f"Optuna {optuna.__version__}, Ray {ray.__version__}, scipy {scipy.__version__}, seeds {a.first} to {a.first + a.seeds - 1}")
    seeds = range(a.first, a.first + a.seeds)
    ours, behind, all_results = Ours(a.asks), [], {}
    for name in [*FUNCTIONS, *CURVES]:
        if a.only and name != a.only:
            continue
        if name in FUNCTIONS:
            least = FUNCTIONS[name][2]
            found = {"ours": [ours.function(name, s) for s in seeds], "random": [random_function(name, s) for s in seeds],
                     "TPE": [tpe_function(name, s) for s in seeds]}
        else:
            least = least_of(name)
            chosen, spent = zip(*(ours.curve(name, s) for s in seeds))
            found = {"ours": chosen}
            for peer, f in {"random": random_curve, "TPE and halving": halving_curve, "Ray's ASHA": asha_curve}.items():
                found[peer] = [f(name, s, budget) for s, budget in zip(seeds, spent)]
            print(f"{name}: {sum(spent) / len(spent):.0f} epochs taken by our search, on average")
        all_results[name] = found
        median = {k: sorted(max(v - least, 1e-9) for v in values)[len(values) // 2] for k, values in found.items()}
        cells = [f"{median['ours']:.2g}"]
        for peer in list(found)[1:]:
            mean, half = compare(found["ours"], found[peer], least)
            cells.append(f"{peer} {median[peer]:.2g}: {mean:+.2f} ± {half:.2f}, {verdict(mean, half)}")
            if verdict(mean, half) == "behind" and name not in behind:
                behind.append(name)
        print("| " + " | ".join([name, *cells]) + " |", flush=True)
    print(f"behind on {len(behind)} of {len(all_results)}: {', '.join(behind) or 'none'}")
    if a.json:
        with open(a.json, "w") as f:
            json.dump(all_results, f)


if __name__ == "__main__":
    main()
