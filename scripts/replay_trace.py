#!/usr/bin/python3
"""Repeats every traced step of `collapse train --trace DIR` in PyTorch, from the traced state before it, and judges the result.

usage: replay_trace.py DIR [DIR ...]        needs PyTorch 1.13 or newer (Debian: python3-torch), nothing else

For each step: the loss must agree to 1e-5 relative, and for every parameter p the change that collapse made must be as good as
PyTorch's own in float32, measured against PyTorch in float64 on the same state:
    |dp_ours - dp_64| <= 3 |dp_torch32 - dp_64| + 1e-6 |p|        (Euclidean norms; |p| before or after the step, the larger)
The same is asked of logits, gradients, running statistics and momentum buffers, where a bias is measured against its layer's
weight (in front of batch norm its own gradient is rounding and nothing else). A trace made in float64 is compared with float64
to 1e-10. Then the steps are repeated without going back to the traced state; that difference is printed, not judged:
rounding grows from step to step, and PyTorch differs from itself as much. Exit status 1 if anything fails.

Kinks: a ReLU's input that is 0 within float32's rounding may come out on either side, and with it one sample's whole share of a
gradient. Where a step exceeds its bounds, float64 is asked again with such inputs (|x| at most 4 times float32's error in that unit)
on the side that fits best; the bounds stay. What had to be taken the other way is printed; a step passes only if that explains all.
"""
import json, math, os, struct, sys, warnings

warnings.filterwarnings("ignore")
import torch
import torch.nn.functional as F

TYPES = {"F64": torch.float64, "F32": torch.float32, "I64": torch.int64, "I32": torch.int32, "U8": torch.uint8}


def read_safetensors(path):
    """name -> tensor; the format is 8 bytes of header length, a JSON header, and the tensors' bytes."""
    with open(path, "rb") as f:
        raw = f.read()
    (n,) = struct.unpack("<Q", raw[:8])
    header, body, out = json.loads(raw[8 : 8 + n]), raw[8 + n :], {}
    for name, h in header.items():
        if name == "__metadata__":
            continue
        begin, end = h["data_offsets"]
        t = torch.frombuffer(bytearray(body[begin:end]), dtype=TYPES[h["dtype"]]) if end > begin else torch.empty(0, dtype=TYPES[h["dtype"]])
        out[name] = t.reshape(h["shape"])
    return out


def part(step, prefix):
    return {k[len(prefix) :]: v for k, v in step.items() if k.startswith(prefix)}


def forward(meta, state, x, flips=(), record=None):
    """Logits in training mode; state's running statistics are updated in place. flips holds (layer, sample, unit) of ReLU inputs
    to be taken for the other sign; record gets every ReLU's input."""
    for i, layer in enumerate(meta["layers"]):
        name = layer.get("name")
        if layer["kind"] == "linear":
            x = F.linear(x, state[name + ".weight"], state.get(name + ".bias"))
        elif layer["kind"] == "batch_norm":
            x = F.batch_norm(x, state[name + ".running_mean"], state[name + ".running_var"], state[name + ".weight"],
                             state[name + ".bias"], True, layer["momentum"], layer["eps"])
        elif layer["kind"] == "sigmoid":
            x = torch.sigmoid(x)
        else:
            if record is not None:
                record[i] = x.detach()
            mask = x.detach() > 0
            for _, b, u in (f for f in flips if f[0] == i):
                mask[b, u] = ~mask[b, u]
            x = x * mask
    return x


def loss_of(meta, z, y):
    c, K = meta["loss"], meta["classes"]
    if c["kind"] == "ce":
        return F.cross_entropy(z, y)
    if c["kind"] == "ls":
        return F.cross_entropy(z, y, label_smoothing=c["smoothing"])
    onehot = F.one_hot(y, K).to(z.dtype)
    if c["kind"] == "lr":  # KL(q || p) with q_y = 1 - a and the rest in proportion to p; 0 where p_y > 1 - a
        a, logp = c["smoothing"], F.log_softmax(z, 1)
        log_rest = torch.logsumexp(logp.masked_fill(onehot.bool(), -math.inf), 1)
        logp_y = (logp * onehot).sum(1)
        kl = (1 - a) * (math.log(1 - a) - logp_y) + a * (math.log(a) - log_rest)
        return torch.where(logp_y.exp() > 1 - a, torch.zeros_like(kl), kl).mean()
    weight, target = (c["alpha"], c["m"]) if c["kind"] == "rescaled_mse" else (1.0, 1.0)
    e = ((z - target * onehot) ** 2 * (1 + (weight - 1) * onehot)).sum(1).mean()
    return e / K if c["reduction"] == "torch" else e / 2


def tensors(step, when, dtype):
    state = {k: v.to(dtype).clone() if v.is_floating_point() else v.clone() for k, v in part(step, when + ".").items()}
    optim = {k: v.to(dtype).clone() for k, v in part(step, when + "_optim.").items() if k != "steps"}
    return state, optim


def run_step(meta, info, step, state, optim, dtype, flips=(), record=None):
    """One step of torch.optim.SGD; state and optim are changed in place. Returns loss, logits, gradients."""
    names = list(part(step, "grad."))
    params = [state[n].requires_grad_(True) for n in names]
    z = forward(meta, state, step["batch.x"].to(dtype), flips, record)
    loss = loss_of(meta, z, step["batch.labels"].long())
    grads = torch.autograd.grad(loss, params)
    o = meta["optim"]
    sgd = torch.optim.SGD(params, lr=info["lr"], momentum=o["momentum"], nesterov=o["nesterov"], weight_decay=o["weight_decay"])
    for n, p, g in zip(names, params, grads):
        p.grad = g.clone()
        if n + ".momentum_buffer" in optim:
            sgd.state[p]["momentum_buffer"] = optim[n + ".momentum_buffer"]
    sgd.step()
    for n, p in zip(names, params):
        if "momentum_buffer" in sgd.state[p] and sgd.state[p]["momentum_buffer"] is not None:
            optim[n + ".momentum_buffer"] = sgd.state[p]["momentum_buffer"]
        p.requires_grad_(False)
    return loss.item(), {"logits": z.detach()}, {n: g for n, g in zip(names, grads)}


def norm(t):
    return t.double().norm().item()


def size_of(n, tensors):
    """Norm of a tensor, for a bias at least that of its layer's weight: in front of batch norm its gradient is 0 up to rounding,
    and the weight says how much rounding there is."""
    return max(norm(tensors[k]) for k in {n, n.replace(".bias", ".weight")} if k in tensors)


class Judge:
    """Collects the worst ratio of error to bound for each kind of number, and what exceeds its bound."""

    def __init__(self, double):
        self.double, self.worst, self.failed, self.kinks = double, {}, [], []

    def see(self, kind, what, error, bound):
        ratio = error / bound if bound > 0 else (0.0 if error == 0 else math.inf)
        if not ratio <= 1:  # also for NaN
            self.failed.append("%s %s: error %.3g, bound %.3g" % (kind, what, error, bound))
        if not ratio <= self.worst.get(kind, (-1, ""))[0]:
            self.worst[kind] = (ratio, what)

    def compare(self, kind, where, ours, t32, t64, kinked, scale=None, own=False):
        """ours against kinked, which is t64 but for kinks, with the bound that t32 and t64 give."""
        for n in sorted(t64):
            error, error32 = norm(ours[n].double() - kinked[n].double()), norm(t32[n].double() - t64[n].double())
            sizes = scale or t64
            size = norm(sizes[n]) if own else size_of(n, sizes)
            self.see(kind, "%s %s" % (where, n), error, 1e-10 * max(size, 1e-3) if self.double else 3 * error32 + 1e-6 * size)

    def step(self, where, step, got32, got64, kinked):
        """All that a step produced. Parameters are compared as they are after the step: the state before it is common."""
        (l32, o32, g32, s32, b32), (l64, o64, g64, s64, b64), (_, ok, gk, sk, bk) = got32, got64, kinked
        before, (ours, ours_optim) = tensors(step, "before", torch.float64)[0], tensors(step, "after", torch.float64)
        loss = step["loss"].item()
        self.see("loss", where + " against float32", abs(loss - l32), 1e-5 * abs(l32))
        self.see("loss", where + " against float64", abs(loss - l64), 1e-5 * abs(l64))
        pick = lambda keys, *dicts: [{k: d[k] for k in keys} for d in dicts]
        running = [k for k in s64 if k.rsplit(".", 1)[1] in ("running_mean", "running_var")]
        self.compare("logits", where, {"logits": step["logits"]}, o32, o64, ok)
        self.compare("gradient", where, part(step, "grad."), g32, g64, gk)
        larger = {n: max(before[n], s64[n], key=norm) for n in g64}  # p before or after: some parameters start at 0
        self.compare("parameter", where, *pick(g64, ours, s32, s64, sk), scale=larger, own=True)
        self.compare("running statistic", where, *pick(running, ours, s32, s64, sk))
        self.compare("momentum", where, ours_optim, b32, b64, bk)
        if set(ours_optim) != set(b64) or not all(torch.isfinite(v).all() for v in ours.values() if v.is_floating_point()):
            self.failed.append(where + ": momentum buffers differ in name, or a tensor is not finite")


def repeat(meta, info, step, dtype, flips=(), record=None):
    """loss, logits, gradients, state and momentum of one step from the traced state before it."""
    state, optim = tensors(step, "before", dtype)
    return run_step(meta, info, step, state, optim, dtype, flips, record) + (state, optim)


def resolve_kinks(meta, info, step, got64):
    """The float64 step with kinks on the side that brings its gradients nearest to ours, one kink after the other."""
    in32, in64 = {}, {}
    repeat(meta, info, step, torch.float32, record=in32)
    repeat(meta, info, step, torch.float64, record=in64)
    ours = part(step, "grad.")
    distance = lambda g: sum((norm(ours[n].double() - g[n]) / size_of(n, got64[2])) ** 2 for n in g)
    best, flips = got64, []
    for i in sorted(in64, reverse=True):  # a flip changes the gradients of the layers below it
        error = (in32[i].double() - in64[i]).abs().amax(0, keepdim=True)
        near = in64[i].abs() <= 4 * error
        bias = meta["layers"][i - 1]["name"] + ".bias"  # its gradient shows in which unit a sample is in or out
        away = (ours[bias].double() - best[2][bias]).abs()
        units = [u for u in away.argsort(descending=True).tolist() if near[:, u].any() and away[u] > 20 * away.median()][:8]
        for b, u in ((b, u) for u in units for b in near[:, u].nonzero().flatten().tolist()):
            trial = repeat(meta, info, step, torch.float64, flips + [(i, b, u)])
            if distance(trial[2]) < distance(best[2]):
                best, flips = trial, flips + [(i, b, u)]
    return best, ["ReLU %d, sample %d, unit %d: input %.2g" % (i, b, u, in64[i][b, u]) for i, b, u in flips]


def replay(directory):
    meta = json.load(open(os.path.join(directory, "meta.json")))
    judge = Judge(meta["dtype"] == "float64")
    free = {}
    for info in meta["steps"]:
        step, where = read_safetensors(os.path.join(directory, info["file"])), "step %d" % info["step"]
        got32, got64 = (repeat(meta, info, step, dtype) for dtype in (torch.float32, torch.float64))
        plain, kinked = Judge(judge.double), got64
        plain.step(where, step, got32, got64, got64)
        if plain.failed and not judge.double:
            kinked, taken = resolve_kinks(meta, info, step, got64)
            judge.kinks += ["%s exceeds %d bounds without: %s" % (where, len(plain.failed), k) for k in taken]
        judge.step(where, step, got32, got64, kinked)
        for dtype in (torch.float32, torch.float64):  # free running: from the first traced state on
            if dtype not in free:
                free[dtype] = tensors(step, "before", dtype)
            run_step(meta, info, step, *free[dtype], dtype)
    return meta, judge, drift(free, tensors(step, "after", torch.float64)[0], set(got64[2]))


def drift(free, ours, params):
    """Relative differences after all steps, over all parameters together."""
    total = math.sqrt(sum(norm(ours[n]) ** 2 for n in params))
    away = lambda a, b: math.sqrt(sum(norm(a[n].double() - b[n].double()) ** 2 for n in params)) / total
    t32, t64 = free[torch.float32][0], free[torch.float64][0]
    return away(ours, t32), away(ours, t64), away(t32, t64)


def main(directories):
    if not directories:
        sys.exit(__doc__)
    bad = False
    for d in directories:
        meta, judge, free = replay(d)
        if not meta["steps"]:
            sys.exit("%s holds no steps" % d)
        print("%s: %d steps, loss %s, %s, kernel %s, torch %s" % (d, len(meta["steps"]), meta["loss"]["kind"], meta["dtype"], meta["machine"]["kernel"], torch.__version__))
        print("  %-18s %-12s %s" % ("compared", "error/bound", "worst at"))
        for kind, (ratio, where) in judge.worst.items():
            print("  %-18s %-12.3g %s" % (kind, ratio, where))
        print("  free running, relative distance of parameters: ours to torch32 %.2g, ours to torch64 %.2g, torch32 to torch64 %.2g (not judged)" % free)
        for line in judge.kinks:
            print("  kink: " + line)
        for line in judge.failed[:20]:
            print("  FAILED " + line)
        bad = bad or bool(judge.failed)
    print("FAILED" if bad else "ok")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
