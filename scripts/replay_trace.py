#!/usr/bin/python3
"""Repeats every traced step of `collapse train --trace DIR` in PyTorch, from the traced state before it, and judges the result.

usage: replay_trace.py DIR [DIR ...]        needs PyTorch 1.13 or newer (Debian: python3-torch), nothing else

For each step: the loss must agree to 1e-5 relative, and for every parameter p the change that collapse made must be as good as
PyTorch's own in float32, measured against PyTorch in float64 on the same state:
    |dp_ours - dp_64| <= 3 |dp_torch32 - dp_64| + 1e-6 |p|        (Euclidean norms)
The same is asked of logits, gradients, running statistics and momentum buffers, where a bias is measured against its layer's
weight (in front of batch norm its own gradient is rounding and nothing else). A trace made in float64 is compared with float64
to 1e-10. Then the steps are repeated without going back to the traced state; that difference is printed, not judged:
rounding grows from step to step, and PyTorch differs from itself as much. Exit status 1 if anything fails.
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


def forward(meta, state, x):
    """Logits in training mode; state's running statistics are updated in place."""
    for layer in meta["layers"]:
        name = layer.get("name")
        if layer["kind"] == "linear":
            x = F.linear(x, state[name + ".weight"], state.get(name + ".bias"))
        elif layer["kind"] == "batch_norm":
            x = F.batch_norm(x, state[name + ".running_mean"], state[name + ".running_var"], state[name + ".weight"],
                             state[name + ".bias"], True, layer["momentum"], layer["eps"])
        else:
            x = {"relu": torch.relu, "sigmoid": torch.sigmoid}[layer["kind"]](x)
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


def run_step(meta, info, step, state, optim, dtype):
    """One step of torch.optim.SGD; state and optim are changed in place. Returns loss, logits, gradients."""
    names = list(part(step, "grad."))
    params = [state[n].requires_grad_(True) for n in names]
    z = forward(meta, state, step["batch.x"].to(dtype))
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


class Judge:
    def __init__(self):
        self.worst, self.failed = {}, []

    def see(self, kind, what, error, bound):
        ratio = error / bound if bound > 0 else (0.0 if error == 0 else math.inf)
        if not ratio <= 1:  # also for NaN
            self.failed.append("%s %s: error %.3g, bound %.3g" % (kind, what, error, bound))
        if not ratio <= self.worst.get(kind, (-1, ""))[0]:
            self.worst[kind] = (ratio, what)

    def compare(self, kind, where, ours, t32, t64, start=None, scale=None, own=False):
        """ours and t32 against t64, each as a change from start where there is one."""
        for n in sorted(t64):
            base = start[n].double() if start is not None else 0.0
            sizes = scale or t64
            # A bias in front of batch norm has gradient 0 up to rounding: its layer's weight says how much rounding there is.
            size = max(norm(sizes[k]) for k in ({n} if own else {n, n.replace(".bias", ".weight")}) if k in sizes)
            e_ours = norm(ours[n].double() - base - (t64[n].double() - base))
            e_32 = norm(t32[n].double() - base - (t64[n].double() - base))
            bound = 1e-10 * max(size, 1e-3) if self.double else 3 * e_32 + 1e-6 * size
            self.see(kind, "%s %s" % (where, n), e_ours, bound)


def replay(directory):
    meta = json.load(open(os.path.join(directory, "meta.json")))
    judge = Judge()
    judge.double = meta["dtype"] == "float64"
    free = {}
    for info in meta["steps"]:
        step, where = read_safetensors(os.path.join(directory, info["file"])), "step %d" % info["step"]
        start, _ = tensors(step, "before", torch.float64)
        ours_state, ours_optim = tensors(step, "after", torch.float64)
        got = {}
        for dtype in (torch.float32, torch.float64):
            state, optim = tensors(step, "before", dtype)
            got[dtype] = run_step(meta, info, step, state, optim, dtype) + (state, optim)
        (l32, o32, g32, s32, b32), (l64, o64, g64, s64, b64) = got[torch.float32], got[torch.float64]
        ours_loss = step["loss"].item()
        judge.see("loss", where + " against float32", abs(ours_loss - l32), 1e-5 * abs(l32))
        judge.see("loss", where + " against float64", abs(ours_loss - l64), 1e-5 * abs(l64))
        judge.compare("logits", where, {"logits": step["logits"]}, o32, o64)
        judge.compare("gradient", where, part(step, "grad."), g32, g64)
        params = set(g64)
        pick = lambda d, keys: {k: d[k] for k in keys}
        judge.compare("parameter", where, *(pick(d, params) for d in (ours_state, s32, s64)), start=start, scale=start, own=True)
        running = {k for k in s64 if k.rsplit(".", 1)[1] in ("running_mean", "running_var")}
        judge.compare("running statistic", where, *(pick(d, running) for d in (ours_state, s32, s64)), start=start)
        judge.compare("momentum", where, ours_optim, b32, b64)
        if set(ours_optim) != set(b64) or not all(torch.isfinite(v).all() for v in ours_state.values() if v.is_floating_point()):
            judge.failed.append(where + ": momentum buffers differ in name, or a tensor is not finite")
        for dtype in (torch.float32, torch.float64):  # free running: from the first traced state on
            if dtype not in free:
                free[dtype] = tensors(step, "before", dtype)
            run_step(meta, info, step, *free[dtype], dtype)
    return meta, judge, drift(free, ours_state, params)


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
        for line in judge.failed[:20]:
            print("  FAILED " + line)
        bad = bad or bool(judge.failed)
    print("FAILED" if bad else "ok")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
