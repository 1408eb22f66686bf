#!/usr/bin/env python3
"""Repeats traced training steps (`collapse train --trace DIR`) in PyTorch, each from the traced state before it.

usage: replay_trace.py DIR|PIPE ...        (a named pipe is read along while the training writes it)

Networks, losses, decay and optimisers are those of python/collapse/engine, so what is judged here is that engine as much as ours;
the step is taken in float32 and in float64. A step passes if the loss agrees to 1e-5 relative and, for every parameter, our error is within three times PyTorch's
own in float32, measured against PyTorch in float64 on the same state; within ten times in a network with convolutions that ran by
Winograd's algorithm, whose rounding reaches every layer forwards or backwards:
    |dp_ours - dp_64| <= 3 |dp_torch32 - dp_64| + 1e-6 |p|        (Euclidean norms; |p| before or after the step, the larger)
How far the layers that ran directly come out from three times is printed then.
The same is asked of logits, gradients, running statistics and the optimiser's state, where a bias is measured against its layer's
weight (in front of batch norm its own gradient is rounding and nothing else). A trace made in float64 is compared with float64
to 1e-10. For small networks the steps are repeated without going back to the traced state, too; that difference is printed, not
judged: rounding grows from step to step, and PyTorch differs from itself as much. Exit status 1 if anything fails.

Kinks: a ReLU's input that is 0 within rounding, or the larger of two pixels that are equal within rounding, may come out on either
side, and with it one sample's whole share of a gradient (replay_nets.py). The trace holds our ReLUs' outputs, so float64 can be
asked to go our way where, and only where, its own input is within rounding of the kink: at most 4 times float32's largest error in
that channel (40/3 with Winograd). PyTorch's float32 is compared with a float64 step that goes its way. How many sides were taken is
printed; a side taken farther from a kink fails. Adam has a kink of its own: it divides by the root v of the mean squared gradient,
and where all of an entry's gradients so far are rounding, the entry moves by the learning rate one way or the other. Entries with v
above 0, but below 4 times (40/3) float32's largest error in the gradient of that tensor (or the share of an entry in the 1e-6 that
its norm is allowed), are left out of the norms, counted, and must not have moved by more than 20 learning rates.

Biases: what the gradient of a bias is allowed is allowed to its move, and to Adam's mean square, as the optimiser makes them of the
gradient; biases start at 0, where 1e-6 |p| is nothing. How many exceed the bound above without that is printed.
"""
import json, math, os, sys, tarfile, warnings

warnings.filterwarnings("ignore")
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from collapse.engine import losses, nets, optimisers, weights
from collapse.engine.decay import Decay
from collapse.engine.devices import Arithmetic
from collapse.engine.fields import Fields
from collapse.engine.safetensors import parse
from collapse.engine.trainer import Trainer
from replay_nets import Sides, led


def traced_steps(path):
    """(meta, info, step) of every step, from a folder or, while it is written, from a pipe."""
    if os.path.isdir(path):
        meta = json.load(open(os.path.join(path, "meta.json")))
        for info in meta["steps"]:
            with open(os.path.join(path, info["file"]), "rb") as f:
                yield meta, info, parse(f.read(), f.name)
        return
    with open(path, "rb") as pipe, tarfile.open(fileobj=pipe, mode="r|") as tar:
        for member in tar:
            content = tar.extractfile(member).read()
            if member.name == "meta.json":
                meta = json.loads(content)
            else:
                assert member.name == meta["steps"][-1]["file"], member.name
                yield meta, meta["steps"][-1], parse(content, member.name)


def part(step, prefix):
    return {k[len(prefix) :]: v for k, v in step.items() if k.startswith(prefix)}


def tensors(step, when, dtype):
    state = {k: v.to(dtype).clone() if v.is_floating_point() else v.clone() for k, v in part(step, when + ".").items()}
    optim = {k: v.to(dtype).clone() if v.is_floating_point() else v.clone() for k, v in part(step, when + "_optim.").items()}
    return state, optim


def trainer(meta, trained, state, optim, dtype, sides):
    """The engine's trainer in a traced state. trained: names of the parameters that are."""
    net = nets.build(nets.complete(meta["net"], state), meta["classes"]).to(dtype)
    weights.load_model(weights.of_model(net), state, "trace")
    params = weights.trained(net, [name for name, _ in net.named_parameters() if name not in trained])
    optimiser = optimisers.build(Fields(meta["optim"], "optim"), params)
    weights.load_optimiser(optimiser, optim, dtype, "trace")
    arithmetic = Arithmetic(torch.device("cpu"), str(dtype).split(".")[1], "float32")
    decay = Decay(Fields(meta["decay"], "decay"), params, arithmetic.wide)
    return Trainer(led(net, sides), losses.build(Fields(meta["loss"], "loss"), meta["classes"]), decay, optimiser, arithmetic)


class Step:
    """What one step of the engine gave: loss, logits, gradients, state and optimiser state."""

    def __init__(self, meta, info, step, state, optim, dtype, sides):
        made = trainer(meta, part(step, "grad."), state, optim, dtype, sides)
        shape = [meta["net"][name] for name in ("channels", "height", "width")]
        outcome = made.step(step["batch.x"].to(dtype).reshape(-1, *shape), step["batch.labels"].long(), info["lr"], True)
        self.loss, self.logits = outcome.loss.item(), {"logits": outcome.logits}
        self.grads = {name: p.grad for name, p in made.net.named_parameters() if p.requires_grad}
        self.state = {name: t.detach() for name, t in weights.of_model(made.net).items()}
        self.optim = weights.of_optimiser(made.optimiser)


def norm(t):
    return t.double().norm().item()


def size_of(n, tensors):
    """Norm of a tensor, for a bias at least that of its layer's weight: in front of batch norm its gradient is 0 up to rounding,
    and the weight says how much rounding there is."""
    return max(norm(tensors[k]) for k in {n, n.replace(".bias", ".weight")} if k in tensors)


def modules_of(conv):
    """The names of a convolution and of the batch norm that may be fused to it."""
    head, dot, last = conv.rpartition(".")
    return {conv, head + dot + (last.replace("conv", "bn") if last.startswith("conv") else str(int(last) + 1))}


class Judge:
    """Collects the worst ratio of error to bound for each kind of number, and what exceeds its bound."""

    def __init__(self):
        self.worst, self.failed, self.taken, self.largest, self.undecided = {}, [], [0, 0], 0.0, [0, 0]
        self.biases = [0, 0.0]  # that need what their gradients are allowed: how many, and the worst in the bound without
        self.direct = [0, 0, 0.0]  # numbers of layers that ran directly beside Winograd's: all, beyond 3, the worst in 3's bound

    def see(self, kind, what, error, bound):
        ratio = error / bound if bound > 0 else (0.0 if error == 0 else math.inf)
        if not ratio <= 1:  # also for NaN
            self.failed.append("%s %s: error %.3g, bound %.3g" % (kind, what, error, bound))
        if not ratio <= self.worst.get(kind, (-1, ""))[0]:
            self.worst[kind] = (ratio, what)

    def compare(self, kind, where, ours, t32, t64, sizes, own=False, weigh={}, extra={}):
        """ours against t64[0], float64 on our sides, with the bound that t32 against t64[1], float64 on its sides, gives. Differences
        are multiplied by weigh, and extra is added to bounds."""
        for n in sorted(t64[0]):
            error, error32 = (norm((a - b) * weigh.get(n, 1.0)) for a, b in ((ours[n].double(), t64[0][n]), (t32[n].double(), t64[1][n])))
            size = norm(sizes[n]) if own else size_of(n, sizes)
            bound = 1e-10 * max(size, 1e-3) if self.double else (10 if self.winograd else 3) * error32 + 1e-6 * size + extra.get(n, 0.0)
            self.see(kind, "%s %s" % (where, n), error, bound)
            if n in extra and error > bound - extra[n]:
                self.biases = [self.biases[0] + 1, max(self.biases[1], error / (bound - extra[n]))]
            if self.winograd and not any(n.startswith(m + ".") for m in self.winograd):
                ratio = error / (3 * error32 + 1e-6 * size + extra.get(n, 0.0))
                self.direct = [self.direct[0] + 1, self.direct[1] + (ratio > 1), max(self.direct[2], ratio)]

    def step(self, meta, info, step):
        """Repeats a step three times: in float32, in float64 on our sides of the kinks and on float32's."""
        self.double = meta["dtype"] == "float64"
        self.winograd = set().union(*(modules_of(c["name"]) for c in meta["net"].get("convs", []) if c["algorithm"] != "direct"))
        own, where = Sides(), "step %d" % info["step"]
        repeated = lambda dtype, sides: Step(meta, info, step, *tensors(step, "before", dtype), dtype, sides)
        single = repeated(torch.float32, own)
        led = [step["relu.%d" % i] for i in range(len(own.inputs))]
        self.slack = 40 / 3 if self.winograd else 4
        ours = Sides(led, own.inputs, self.slack)
        theirs = Sides(own.outputs, own.inputs)
        doubles = [repeated(torch.float64, ours), repeated(torch.float64, theirs)]
        self.taken = [self.taken[0] + ours.taken, self.taken[1] + theirs.taken]
        self.largest = max(self.largest, ours.largest)
        self.failed += ["%s %s" % (where, u) for u in ours.unexplained]
        self.numbers(where, step, single, doubles, *self.decided(meta, info, where, step, single, doubles))

    def decided(self, meta, info, where, step, single, doubles):
        """For Adam, 0 in place of the entries of each parameter whose move rounding decides, 1 elsewhere; and for biases the norm of
        the move that the 1e-6 allowed to their gradients may make, and of the change of Adam's mean square."""
        o, weigh, extra = meta["optim"], {}, {}
        biases = [n for n in single.grads if n.endswith(".bias") and not self.double]
        if o["kind"] != "adam":
            reach = info["lr"] * (1 + o["momentum"] * o["nesterov"])
            return weigh, {n: reach * 1e-6 * size_of(n, doubles[0].grads) for n in biases}
        if self.double:
            return weigh, extra
        for n in single.grads:
            g = doubles[0].grads[n]
            share = 1e-6 * size_of(n, doubles[0].grads) / math.sqrt(g.numel())
            error = max((single.grads[n].double() - doubles[1].grads[n]).abs().max().item(), share)
            root = (doubles[0].optim[n + ".exp_avg_sq"] / (1 - o["beta2"] ** int(doubles[0].optim["steps"]))).sqrt()
            small = (root <= self.slack * error) & (g != 0)
            moved = (step["after." + n] - step["before." + n]).double().abs()[small]
            if not (moved <= 20 * info["lr"]).all():
                self.failed.append("%s %s: an entry without a gradient to speak of moved by more than 20 learning rates" % (where, n))
            self.undecided = [self.undecided[0] + int(small.sum()), self.undecided[1] + small.numel()]
            weigh[n] = 1.0 - small.double()
            if n in biases:
                extra[n] = info["lr"] * share * norm(weigh[n] / (root + o["eps"]))
                allowed = 1e-6 * size_of(n, doubles[0].grads)
                extra[n + ".exp_avg_sq"] = (1 - o["beta2"]) * 2 * g.abs().max().item() * allowed
        return weigh, extra

    def numbers(self, where, step, single, doubles, weigh, extra):
        """Parameters are compared as they are after the step: the state before it is common."""
        d, before, (after, optim) = doubles[0], tensors(step, "before", torch.float64)[0], tensors(step, "after", torch.float64)
        loss = step["loss"].item()
        self.see("loss", where + " against float32", abs(loss - single.loss), 1e-5 * abs(single.loss))
        self.see("loss", where + " against float64", abs(loss - d.loss), 1e-5 * abs(d.loss))
        pick = lambda keys, t: {k: t[k] for k in keys}
        both = lambda keys, field: [pick(keys, getattr(s, field)) for s in doubles]
        running = [k for k in d.state if k.rsplit(".", 1)[1] in ("running_mean", "running_var")]
        slots = [k for k in d.optim if k != "steps"]
        self.compare("logits", where, {"logits": step["logits"]}, single.logits, both(["logits"], "logits"), d.logits)
        self.compare("gradient", where, part(step, "grad."), single.grads, both(d.grads, "grads"), d.grads)
        larger = {n: max(before[n], d.state[n], key=norm) for n in d.grads}  # p before or after: some parameters start at 0
        self.compare("parameter", where, after, single.state, both(d.grads, "state"), larger, own=True, weigh=weigh, extra=extra)
        self.compare("running statistic", where, after, single.state, both(running, "state"), d.state)
        self.compare("optimiser state", where, optim, single.optim, both(slots, "optim"), d.optim, extra=extra)
        if set(optim) != set(d.optim) or optim["steps"] != d.optim["steps"] or set(after) != set(d.state):
            self.failed.append(where + ": names of tensors, or the count of steps, differ")
        if not all(torch.isfinite(v).all() for v in after.values() if v.is_floating_point()):
            self.failed.append(where + ": a tensor is not finite")


def drift(free, ours, params):
    """Relative differences after all steps, over all parameters together."""
    total = math.sqrt(sum(norm(ours[n]) ** 2 for n in params))
    away = lambda a, b: math.sqrt(sum(norm(a[n].double() - b[n].double()) ** 2 for n in params)) / total
    t32, t64 = free[torch.float32][0], free[torch.float64][0]
    return away(ours, t32), away(ours, t64), away(t32, t64)


def replay(path):
    """Judges every step of a trace as it comes."""
    judge, free, count, far = Judge(), {}, 0, None
    for meta, info, step in traced_steps(path):
        judge.step(meta, info, step)
        count += 1
        if meta["net"]["kind"] != "mlp":
            continue
        for dtype in (torch.float32, torch.float64):  # free running: from the first traced state on
            if dtype not in free:
                free[dtype] = tensors(step, "before", dtype)
            made = Step(meta, info, step, *free[dtype], dtype, Sides())
            free[dtype] = made.state, made.optim
        far = drift(free, tensors(step, "after", torch.float64)[0], list(part(step, "grad.")))
    if not count:
        sys.exit("%s holds no steps" % path)
    show(path, count, meta, judge, far)
    return judge


def show(path, count, meta, judge, far):
    net, convs = meta["net"], meta["net"].get("convs", [])
    name = net["kind"] + (" " + net["stem"] if net.get("stem") else "")
    print("%s: %d steps, loss %s, %s, %s, %s, kernel %s, torch %s" % (
        path, count, meta["loss"]["kind"], meta["dtype"], name, meta["optim"]["kind"], meta["machine"]["kernel"], torch.__version__))
    if convs:
        print("  %d convolutions, %d by Winograd's algorithm" % (len(convs), sum(c["algorithm"] != "direct" for c in convs)))
    print("  %-18s %-12s %s" % ("compared", "error/bound", "worst at"))
    for kind, (ratio, where) in judge.worst.items():
        print("  %-18s %-12.3g %s" % (kind, ratio, where))
    print("  kinks: float64 took our side of %d and PyTorch's of %d; the farthest of ours %.2g of its layer's spread" % (*judge.taken, judge.largest))
    if judge.undecided[1]:
        print("  Adam: %d of %d moves decided by rounding are left out" % tuple(judge.undecided))
    if judge.biases[0]:
        print("  biases: %d moves or mean squares need what their gradients are allowed; the worst is %.2f of the bound without" % tuple(judge.biases))
    if judge.direct[0]:
        print("  beside Winograd's layers: %d of %d numbers of layers that ran directly exceed factor 3; the worst is %.2f of that bound" % (
            judge.direct[1], judge.direct[0], judge.direct[2]))
    if far:
        print("  free running, relative distance of parameters: ours to torch32 %.2g, ours to torch64 %.2g, torch32 to torch64 %.2g (not judged)" % far)
    for line in judge.failed[:20]:
        print("  FAILED " + line)


def main(paths):
    if not paths:
        sys.exit(__doc__)
    bad = False
    for path in paths:
        bad = bool(replay(path).failed) or bad
    print("FAILED" if bad else "ok")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
