"""Moves the contents of checkpoints into and out of a network and an optimiser."""

import torch

from .errors import InputError
from .safetensors import NAMES

STEPS = "steps"  # the optimiser's count of updates in optim.safetensors


def trained(net, frozen):
    """name → parameter for the trained parameters, in the network's order; gradients of the frozen ones are turned off."""
    unknown = set(frozen) - {name for name, _ in net.named_parameters()}
    if unknown:
        raise InputError("open.frozen names %s, which this network does not have" % ", ".join(sorted(unknown)))
    for name, p in net.named_parameters():
        p.requires_grad_(name not in frozen)
    return {name: p for name, p in net.named_parameters() if p.requires_grad}


def of_model(net):
    """name → tensor of everything in a checkpoint: counters, then parameters, then running statistics. Views."""
    buffers = dict(net.named_buffers())
    counters = {name: b for name, b in buffers.items() if b.dtype == torch.int64}
    statistics = {name: b for name, b in buffers.items() if name not in counters}
    return {**counters, **dict(net.named_parameters()), **statistics}


def of_optimiser(optimiser):
    return {STEPS: torch.tensor(optimiser.steps), **optimiser.state()}


def load_model(own, given, file):
    """Copies a checkpoint's tensors into those of a network (name → tensor); a missing counter becomes 0. file is its name in errors. A single
    error lists everything that does not fit, and then nothing has changed."""
    given = {**{name: torch.zeros_like(t) for name, t in own.items() if t.dtype == torch.int64}, **given}
    check({name: (t.dtype, tuple(t.shape)) for name, t in own.items()}, given, file)
    with torch.no_grad():
        for name, t in own.items():
            t.copy_(given[name])


def load_optimiser(optimiser, given, dtype, file):
    """Restores a state. Errors are as in load_model."""
    wanted = {name: (dtype, shape) for name, shape in optimiser.wanted([n for n in given if n != STEPS]).items()}
    check({STEPS: (torch.int64, ()), **wanted}, given, file)
    steps = int(given[STEPS])
    if steps < 0:
        raise InputError("%s counts %d steps" % (file, steps))
    with torch.no_grad():
        optimiser.load(steps, {name: t for name, t in given.items() if name != STEPS})


def check(wanted, given, file):
    """wanted: name → (dtype, shape); given: name → tensor."""
    problems = ["%s is missing" % name for name in wanted if name not in given]
    problems += ["%s is unknown" % name for name in given if name not in wanted]
    for name, (dtype, shape) in wanted.items():
        t = given.get(name)
        if t is not None and (t.dtype, tuple(t.shape)) != (dtype, shape):
            problems.append("%s is %s %s, wanted %s %s" % (name, NAMES[t.dtype], list(t.shape), NAMES[dtype], list(shape)))
    if problems:
        more = ", and %d more" % (len(problems) - 20) if len(problems) > 20 else ""
        raise InputError("%s is of another run: %s%s" % (file, "; ".join(problems[:20]), more))


def most_bytes(own, optimiser):
    """The largest size in bytes of the files with the tensors own of a model, and with those of its optimiser."""
    count = sum(t.numel() for t in own.values())
    return 8 * count, 8 * (1 + count * (optimiser.copies + 1))
