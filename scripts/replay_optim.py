#!/usr/bin/env python3
"""Repeats with the optimisers of python/collapse/engine, and with torch's schedules, what ours did, from an account of a Go test.

usage: go test -count=1 -v -run TestOptimisersAgainstTorch ./optim
       replay_optim.py ACCOUNT.json

Adam: 20 steps on given gradients. In float64 parameters agree to 1e-13; in float32 our distance from the float64 steps is at
most 3 times torch's. Schedules: the rate of each epoch, to 1e-12 relative. L-BFGS in float64 on a small MLP, five steps on five
batches, each from our parameters and our L-BFGS state before it: the same number of closure calls and of iterations in each
step, the same number of calls after each iteration, and the same step lengths and parameters to 1e-6 relative. Interpolation
amplifies rounding: what torch makes of the same step from parameters that differ by 1e-16 is printed beside. Then the five steps
are made without going back to our state; that difference is printed, not judged. Exit status 1 if anything fails.
"""
import json, math, os, sys, warnings

warnings.filterwarnings("ignore")
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import lr_scheduler as schedulers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from collapse.engine import optimisers
from collapse.engine.fields import Fields

F64 = torch.float64


def adam(a):
    settings = Fields({"kind": "adam", "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": a["decay"]}, "account")

    def run(dtype):
        p = torch.tensor(a["start"], dtype=dtype, requires_grad=True)
        opt, values = optimisers.build(settings, {"p": p}), []
        for g in a["grads"]:
            p.grad = torch.tensor(g, dtype=dtype)
            opt.step(a["lr"], lambda: None)
            values.append(p.detach().to(F64).clone())
        return values

    double, ours, worst = run(F64), [torch.tensor(v, dtype=F64) for v in a["values"]], 0.0
    if len(ours) != 20:
        return math.inf, "%d steps instead of 20" % len(ours)
    single = run(torch.float32)
    for o, d, s in zip(ours, double, single):
        away = (o - d).norm().item()
        bound = 1e-13 * d.norm().item() if a["dtype"] == "float64" else 3 * (s - d).norm().item()
        worst = max(worst, away / bound) if away == away else math.inf
    return worst, "20 steps, %s, decay %g: error/bound %.3g" % (a["dtype"], a["decay"], worst)


def torch_rates(s):
    opt = torch.optim.SGD([torch.zeros(1)], lr=s["base"])
    kinds = {"constant": lambda o: schedulers.LambdaLR(o, lambda e: 1.0),
             "step": lambda o: schedulers.StepLR(o, **s["args"]),
             "multi_step": lambda o: schedulers.MultiStepLR(o, **s["args"]),
             "cosine": lambda o: schedulers.CosineAnnealingWarmRestarts(o, **s["args"])}
    n = s["warmup"]
    if n == 0:
        schedule = kinds[s["kind"]](opt)
    else:
        first = schedulers.LinearLR(opt, start_factor=1 / (n + 1), total_iters=n)
        schedule = schedulers.SequentialLR(opt, [first, kinds[s["kind"]](opt)], milestones=[n])
    rates = []
    for _ in s["rates"]:
        rates.append(opt.param_groups[0]["lr"])
        opt.step()
        schedule.step()
    return rates


def schedule(s):
    """The worst relative difference, and where."""
    return max((abs(ours - theirs) / abs(theirs) if ours == ours else math.inf, "%s, warm-up %d, epoch %d: %r, torch %r" % (s["kind"], s["warmup"], e, ours, theirs))
               for e, (ours, theirs) in enumerate(zip(s["rates"], torch_rates(s))))


class Recorded(torch.optim.LBFGS):
    """Writes down the length of every iteration's move, and how often the closure had been called."""

    lengths, evaluations, calls, trying = (), (), 0, False

    def _directional_evaluate(self, *args):
        self.trying = True
        found = super()._directional_evaluate(*args)
        self.trying = False
        return found

    def _add_grad(self, step, direction):
        if not self.trying:
            self.lengths.append(float(step))
            self.evaluations.append(self.calls)
        super()._add_grad(step, direction)

    def counted(self, closure):
        self.lengths, self.evaluations, self.calls = [], [], 0

        def call():
            self.calls += 1
            return closure()

        return self.step(call)


class Point(nn.Module):
    """One parameter of four entries, the argument of a function."""

    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.zeros(4, dtype=F64))


FUNCTIONS = {
    "rough": lambda p: (0.01 * p * p + torch.sin(2.3 * p + torch.arange(4.0, dtype=F64))).sum() + 0.3 * torch.sin(5 * p.sum()),
    "kinks": lambda p: (torch.arange(1.0, 5.0, dtype=F64) * p.abs()).sum(),
    "wall": lambda p: (torch.exp(4 * p) - 3 * p).sum(),
    "waves": lambda p: (torch.sin(2.3 * p + torch.arange(4.0, dtype=F64)) - 0.01 * p).sum(),
    "plunge": lambda p: -p.pow(1.02).sum(),
    "slope": lambda p: 1e-4 * p.sum(),
}


def network(a):
    """The MLP of the account; modules are told apart by the shapes of their weights."""
    if a["function"] != "mlp":
        return Point()
    layers = []
    for name in sorted({k.rsplit(".", 1)[0] for k in a["shapes"] if k.startswith("layers.")}, key=lambda n: int(n.split(".")[1])):
        shape = a["shapes"][name + ".weight"]
        if len(shape) == 2 and layers:
            layers.append(nn.Sigmoid())
        layers.append(nn.Linear(shape[1], shape[0]) if len(shape) == 2 else nn.BatchNorm1d(shape[0]))
    net, shape = nn.Sequential(), a["shapes"]["fc.weight"]
    net.layers, net.fc = nn.Sequential(*layers, nn.Sigmoid()), nn.Linear(shape[1], shape[0])
    return net.to(F64)


def load(net, values, noise=0.0):
    params = dict(net.named_parameters())
    assert set(params) == set(values), set(params) ^ set(values)
    with torch.no_grad():
        for k, p in params.items():
            p.copy_(torch.tensor(values[k], dtype=F64).reshape(p.shape))
            p.mul_(1 + noise * torch.randn(p.shape, dtype=F64, generator=torch.Generator().manual_seed(1)))


def optimiser(a, net, state):
    """The engine's L-BFGS in the state that ours was in; torch's, which is inside."""
    settings = {"line_search": a["line_search"], "max_iter": a["iterations"], "max_eval": 0, "history": 10, "tolerance_grad": 0, "tolerance_change": 0}
    opt = optimisers.LBFGS(Fields(settings, "account"), dict(net.named_parameters()), Recorded)
    opt.load(1, {name: torch.tensor(values, dtype=F64) for name, values in state.items()})
    for group in opt.optimiser.param_groups:
        group["lr"] = a["lr"]
    return opt.optimiser


def step(a, net, opt, batch):
    if a["function"] == "mlp":
        y = torch.tensor(batch["labels"])
        x = torch.tensor(batch["x"], dtype=F64).reshape(len(y), -1)
        objective = lambda: F.cross_entropy(net(x), y) + a["decay"] / 2 * sum(p.pow(2).sum() for p in net.parameters())
    else:
        objective = lambda: FUNCTIONS[a["function"]](net.p)

    def closure():
        opt.zero_grad()
        loss = objective()
        loss.backward()
        return loss

    opt.counted(closure)


def distance(net, values):
    params = dict(net.named_parameters())
    away = sum((torch.tensor(v, dtype=F64) - params[k].detach().flatten()).pow(2).sum().item() for k, v in values.items())
    return math.sqrt(away / sum(p.detach().pow(2).sum().item() for p in params.values()))


def furthest(ours, theirs):
    """The largest relative difference of step lengths."""
    relative = lambda p, q: 0.0 if p == q else abs(p - q) / max(abs(q), 1e-300) if p == p else math.inf
    return max((relative(p, q) for p, q in zip(ours, theirs)), default=0.0)


def lbfgs(a):
    net, near = network(a), network(a)
    assert any(isinstance(m, nn.BatchNorm1d) for m in net.modules()) == a["batch_norm"]
    what = "decay %g, %s batch norm" % (a["decay"], "with" if a["batch_norm"] else "no") if a["function"] == "mlp" else a["function"]
    label = "%s, lr %g, %s" % (a["line_search"], a["lr"], what)
    lengths = params = itself = 0.0
    calls = iterations = 0
    for n, batch in enumerate(a["batches"]):
        load(net, batch["before"])
        load(near, batch["before"], 1e-16)
        opt, other = optimiser(a, net, batch["state"]), optimiser(a, near, batch["state"])
        step(a, net, opt, batch)
        step(a, near, other, batch)
        ours = batch["iterations"] or []
        if opt.calls != batch["calls"] or len(ours) != len(opt.lengths):
            return math.inf, "%s: step %d: %d calls in %d iterations, torch %d in %d:" % (label, n, batch["calls"], len(ours), opt.calls, len(opt.lengths))
        for i, (o, evaluations) in enumerate(zip(ours, opt.evaluations)):
            after = evaluations + (a["line_search"] == "none" and i + 1 < a["iterations"])  # torch moves first and then evaluates
            if o["Evaluations"] != after:
                return math.inf, "%s: step %d: %d calls after iteration %d, torch %d:" % (label, n, o["Evaluations"], i, after)
        lengths = max(lengths, furthest([o["Length"] for o in ours], opt.lengths))
        itself = max(itself, furthest(other.lengths, opt.lengths))
        params = max(params, distance(net, batch["after"]))
        calls, iterations = calls + opt.calls, iterations + len(ours)
    return max(lengths, params) / 1e-6, "%s: %d steps, %d iterations, %d calls as torch; lengths differ by %.1g (torch from itself %.1g), parameters %.1g, free running %.1g:" % (
        label, n + 1, iterations, calls, lengths, itself, params, free_running(a, net))


def free_running(a, net):
    """The distance after all steps from the first state on."""
    load(net, a["batches"][0]["before"])
    opt = optimiser(a, net, {})
    for batch in a["batches"]:
        step(a, net, opt, batch)
    return distance(net, a["batches"][-1]["after"])


def main(path):
    account, bad = json.load(open(path)), False

    def verdict(kind, ratio, text):
        nonlocal bad
        bad = bad or not ratio <= 1
        print("%-9s %s %s" % (kind, text, "ok" if ratio <= 1 else "FAILED"))

    print("torch %s" % torch.__version__)
    for a in account["adam"]:
        verdict("Adam", *adam(a))
    found = [schedule(s) for s in account["schedules"]]
    ratio, where = max(found)
    epochs = sum(len(s["rates"]) for s in account["schedules"])
    verdict("schedules", ratio / 1e-12, "%d schedules, %d epochs; largest relative difference %.2g at %s:" % (len(found), epochs, ratio, where))
    for a in account["lbfgs"]:
        verdict("L-BFGS", *lbfgs(a))
    print("FAILED" if bad else "ok")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
