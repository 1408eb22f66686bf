"""Parameters of several members in one matrix, and the updates of SGD and Adam on it."""

import torch

ALIGNED = 16  # parameters begin at multiples of this many numbers, so that products.py need not copy them


class Flat:
    """Named tensors of E members in one matrix (E, P), so that an optimiser's update is a few operations. shapes: name → shape of one
    member's."""

    def __init__(self, shapes, members, dtype, device):
        self.shapes, self.offsets, self.size = shapes, {}, 0
        for name, shape in shapes.items():
            self.offsets[name] = self.size
            self.size += -(-shape.numel() // ALIGNED) * ALIGNED
        self.values = torch.zeros((members, self.size), dtype=dtype, device=device)

    def views(self, values):
        """name → view (E, …) of values (E, P)."""
        return {name: values[:, at:at + self.shapes[name].numel()].unflatten(1, self.shapes[name]) for name, at in self.offsets.items()}

    def joined(self, tensors, to):
        """Copies tensors (E, …), in the order of the names, to (E, P)."""
        for (name, at), t in zip(self.offsets.items(), tensors):
            to[:, at:at + self.shapes[name].numel()] = t.flatten(1)
        return to


class Updates:
    """The state of SGD or Adam for every member.

    flat      the parameters
    settings  a Stack of the members' optim; changes when members join
    steps     list of the updates of each member so far
    """

    slots, temporaries = (), 0

    def __init__(self, flat):
        self.flat, members = flat, len(flat.values)
        self.state = {slot: torch.zeros_like(flat.values) for slot in self.slots}
        self.gradient = torch.zeros_like(flat.values)
        self.steps = [0] * members
        self.copies = len(self.slots)
        self.alive = self.copies + 1 + self.temporaries  # beside values and gradient: the gradients before they are joined

    def step(self, gradients, lr):
        """One update. gradients are in the order of the parameters; lr is (E, 1)."""
        gradient = self.flat.joined(gradients, self.gradient)
        if self.decays:
            gradient.addcmul_(self.decay, self.flat.values)
        self.steps = [n + 1 for n in self.steps]
        self.update(gradient, lr)

    def settle(self, settings):
        self.decay = settings.number("weight_decay")[:, None]
        self.decays = any(m.number("weight_decay") for m in settings.members)


class SGD(Updates):
    """As torch.optim.SGD, whose momentum starts with the first gradient: that of zeros is the same."""

    def __init__(self, flat, momentum):
        self.slots = ("momentum_buffer",) if momentum else ()
        super().__init__(flat)

    def settle(self, settings):
        super().settle(settings)
        self.momentum, self.nesterov = settings.number("momentum")[:, None], settings.flag("nesterov")

    def update(self, gradient, lr):
        if self.slots:
            moved = self.state["momentum_buffer"].mul_(self.momentum).add_(gradient)
            gradient = gradient.addcmul_(self.momentum, moved) if self.nesterov else moved
        self.flat.values.addcmul_(lr, gradient, value=-1)


class Adam(Updates):
    """As torch.optim.Adam."""

    slots, temporaries = ("exp_avg", "exp_avg_sq"), 3

    def settle(self, settings):
        super().settle(settings)
        self.beta1, self.beta2, self.eps = (settings.number(name)[:, None] for name in ("beta1", "beta2", "eps"))
        self.betas = [(m.number("beta1"), m.number("beta2")) for m in settings.members]

    def update(self, gradient, lr):
        first, second = self.state.values()
        first.mul_(self.beta1).addcmul_(1 - self.beta1, gradient)
        second.mul_(self.beta2).addcmul_((1 - self.beta2) * gradient, gradient)
        short, long = ([[1 - betas[i]**n] for n, betas in zip(self.steps, self.betas)] for i in range(2))
        size = second.sqrt().div_(lr.new_tensor(long).sqrt()).add_(self.eps)
        self.flat.values.sub_(first / size * (lr / lr.new_tensor(short)))


def build(settings, flat):
    """The updates that the fields settings of one member describe."""
    kind = settings.choice("kind", ("sgd", "adam"))
    return SGD(flat, settings.number("momentum") > 0) if kind == "sgd" else Adam(flat)


class Member:
    """The part of one member in updates, as weights.load_optimiser takes it."""

    def __init__(self, updates, slot):
        self.updates, self.slot, self.copies = updates, slot, updates.copies

    @property
    def steps(self):
        return self.updates.steps[self.slot]

    def state(self):
        views = {kind: self.updates.flat.views(values) for kind, values in self.updates.state.items()}
        return {"%s.%s" % (name, kind): views[kind][name][self.slot] for name in self.updates.flat.shapes for kind in views}

    def wanted(self, given):
        return {name: tuple(t.shape) for name, t in self.state().items()}

    def load(self, steps, tensors):
        for name, t in self.state().items():
            t.copy_(tensors[name])
        self.updates.steps[self.slot] = steps
