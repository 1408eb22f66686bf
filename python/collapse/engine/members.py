"""The orders of the contract for an ensemble. An order for several members has a list of them, and so has its answer; any other is about one
member, 0 unless it says which."""

import time

from . import evaluation, npy, safetensors, together


def several(order):
    """The part of each member in an order."""
    parts = order.groups("members") if "members" in order.values else [order]
    if len({slot_of(p) for p in parts}) < len(parts) or not parts:
        order.wrong("members", "each member once")
    return parts


def slot_of(order):
    return order.whole("member", 0) if "member" in order.values else 0


def answered(order, answers):
    """The answer made of each member's."""
    return {"members": answers} if "members" in order.values else answers[0]


def load(ensemble, order, between, say):
    slot = slot_of(order)
    own = ensemble.member(slot, loaded=False)
    model, optim = (npy.path_of(own.folder, order.text(name)) for name in ("model", "optim"))
    most = ensemble.most_bytes(slot)
    ensemble.load(slot, (model, safetensors.read(model, most[0])), (optim, safetensors.read(optim, most[1])))
    return {}


def save(ensemble, order, between, say):
    slot = slot_of(order)
    paths = [npy.path_of(ensemble.member(slot).folder, order.text(name)) for name in ("model", "optim")]
    model, optim = (safetensors.write(path, tensors) for path, tensors in zip(paths, ensemble.tensors(slot)))
    return {"model": model, "optim": optim}


def _part(ensemble, order, lr=0.0, keep=False):
    slot = slot_of(order)
    return together.Part(slot, ensemble.member(slot).images, lr, order.flag("views"), keep)


def _parts(order, parts):
    if len({p.views is None for p in parts}) > 1:
        order.wrong("views", "the same for all members")
    return parts


def epoch(ensemble, order, between, say):
    orders, start = several(order), time.monotonic()
    for part in orders:
        part.whole("epoch", 0)
    parts = _parts(order, [_part(ensemble, o, o.number("lr"), o.flag("keep")) for o in orders])
    with ensemble.arithmetic.steps():
        tallies = together.Epoch(ensemble, parts).run(between, lambda step, sums: say(progress("members" in order.values, step, sums, start)))
    ensemble.lost(order, [t["member"] for t in tallies if t["bad"] is not None])
    for p in parts:
        if p.kept and p.kept.arrays:
            evaluation.write_kept(ensemble.members[p.slot].folder, p.kept)
    return answered(order, tallies)


def progress(listed, step, sums, start):
    """What is said in the middle of an epoch; listed: of several members."""
    of = lambda t: {"loss": t["loss_sum"] / max(t["samples"], 1), "correct": t["correct"]}
    rate = {"images_per_s": sum(t["samples"] for t in sums) / max(time.monotonic() - start, 1e-9)}
    if not listed:
        return {"step": step, **of(sums[0]), **rate}
    return {"step": step, "members": [{"member": t["member"], **of(t)} for t in sums], **rate}


def settle(ensemble, order, between, say):
    parts = _parts(order, [_part(ensemble, o) for o in several(order)])
    together.settle(ensemble, parts, order.whole("passes", 0), between)
    return {"members": [{"member": p.slot} for p in parts]} if "members" in order.values else {}


def evaluate(ensemble, order, between, say):
    slots = [slot_of(o) for o in several(order)]
    for slot in slots:
        ensemble.member(slot)
    number, layers, samples = order.whole("set", 0, 1), order.flag("layers"), order.whole("samples", 0)
    for split in order.texts("splits"):
        if split not in ensemble.splits:
            order.wrong("splits", "some of " + ", ".join(ensemble.splits))
        together.evaluate(ensemble, slots, split, number, layers, samples, between)
    for slot in slots:
        together.write_head(ensemble, slot, number)
    return answered(order, [{"member": slot, "penalty_squares": together.penalty_squares(ensemble, slot)} for slot in slots])
