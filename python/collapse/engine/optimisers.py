"""The optimisers: torch's own, with states under the names that checkpoints use.

Each has
    step(lr, closure)  one update. closure computes the objective and leaves its gradients in the parameters' grad; if its first
                       call raises, nothing changes.
    steps              updates so far
    state()            name → tensor, without steps; views
    wanted(given)      name → shape of what a state must hold, where given lists what it does hold
    load(steps, tensors)
    copies             how many vectors of the weights' length it keeps
    looks              whether a step waits for the device anyway
"""

import torch


class FirstOrder:
    """torch.optim.SGD or Adam. Their states start with zeros rather than empty, which gives the same steps, so that a checkpoint
    before the first step is like any other."""

    looks = False

    def __init__(self, optimiser, params, slots):
        self.optimiser, self.params, self.slots, self.steps, self.copies = optimiser, params, slots, 0, len(slots)
        for p in params.values():
            for slot in slots:
                optimiser.state[p][slot] = torch.zeros_like(p, requires_grad=False)
        self.load(0, {})

    def zero_grad(self):
        self.optimiser.zero_grad(set_to_none=True)

    def step(self, lr, closure):
        for group in self.optimiser.param_groups:
            group["lr"] = lr
        self.optimiser.step(closure)
        self.steps += 1

    def state(self):
        return {"%s.%s" % (name, slot): self.optimiser.state[p][slot] for name, p in self.params.items() for slot in self.slots}

    def wanted(self, given):
        return {name: tuple(t.shape) for name, t in self.state().items()}

    def load(self, steps, tensors):
        for name, t in self.state().items():
            if name in tensors:
                t.copy_(tensors[name])
        self.steps = steps
        if isinstance(self.optimiser, torch.optim.Adam):
            for p in self.params.values():  # on the cpu: torch reads it before every step
                self.optimiser.state[p]["step"] = torch.tensor(float(steps))


# Names of L-BFGS's vectors, over all trained parameters concatenated. All but the first are torch's; last_move is d·t, the last
# direction times its length.
MOVE, PREVIOUS, Y, S = "lbfgs.last_move", "lbfgs.prev_flat_grad", "lbfgs.old_dirs.%d", "lbfgs.old_stps.%d"


class LBFGS:
    """torch.optim.LBFGS on each minibatch. 0 for a setting means torch's default, except for a history of 10. kind: a class derived
    from torch's, for tests that observe it."""

    looks = True

    def __init__(self, settings, params, kind=torch.optim.LBFGS):
        of = lambda name, default: settings.number(name) or default
        search, iterations = settings.choice("line_search", ("none", "strong_wolfe")), settings.whole("max_iter", 0) or 20
        self.history = settings.whole("history", 0, 10**6) or 10
        self.steps, self.copies = 0, 2 * self.history + 4 + 5 * (search != "none")
        self.first = next(iter(params.values()))  # torch keeps its state there
        self.size = sum(p.numel() for p in params.values())
        self.optimiser = kind(list(params.values()), lr=1, max_iter=iterations, max_eval=settings.whole("max_eval", 0) or None,
                              history_size=self.history, tolerance_grad=of("tolerance_grad", 1e-7),
                              tolerance_change=of("tolerance_change", 1e-9), line_search_fn=None if search == "none" else search)

    zero_grad = FirstOrder.zero_grad
    step = FirstOrder.step

    def state(self):
        state = self.optimiser.state[self.first]
        if "d" not in state:
            return {}
        tensors = {MOVE: state["d"] * state["t"], PREVIOUS: state["prev_flat_grad"]}
        for i, (y, s) in enumerate(zip(state["old_dirs"], state["old_stps"])):
            tensors[Y % i], tensors[S % i] = y, s
        return tensors

    def wanted(self, given):
        """Empty before the first move; then as many pairs as are given, up to the history."""
        if not given:
            return {}
        pairs = min(sum(name.startswith(Y[:-2]) for name in given), self.history)
        names = [MOVE, PREVIOUS] + [name % i for i in range(pairs) for name in (Y, S)]
        return dict.fromkeys(names, (self.size,))

    def load(self, steps, tensors):
        """Recomputes ρ and the scale of the inverse Hessian from the pairs, with the operations that torch used."""
        self.steps, state = steps, self.optimiser.state[self.first]
        state.clear()
        if not tensors:
            return
        own = lambda name: tensors[name].detach().to(self.first.device).clone()
        pairs = range((len(tensors) - 2) // 2)
        y, s = [own(Y % i) for i in pairs], [own(S % i) for i in pairs]
        curvature = [u.dot(v) for u, v in zip(y, s)]
        state.update(func_evals=1, n_iter=1, d=own(MOVE), t=1.0, prev_flat_grad=own(PREVIOUS), prev_loss=0.0, old_dirs=y, old_stps=s,
                     ro=[1.0 / c for c in curvature], H_diag=curvature[-1] / y[-1].dot(y[-1]) if y else 1)


def _sgd(settings, params):
    momentum = settings.number("momentum")
    sgd = torch.optim.SGD(params.values(), lr=1, momentum=momentum, nesterov=settings.flag("nesterov"), weight_decay=settings.number("weight_decay"))
    return FirstOrder(sgd, params, ("momentum_buffer",) if momentum else ())


def _adam(settings, params):
    adam = torch.optim.Adam(params.values(), lr=1, betas=(settings.number("beta1"), settings.number("beta2")), eps=settings.number("eps"),
                            weight_decay=settings.number("weight_decay"))
    return FirstOrder(adam, params, ("exp_avg", "exp_avg_sq"))


OPTIMISERS = {"sgd": _sgd, "adam": _adam, "lbfgs": lambda settings, params: LBFGS(settings.group("lbfgs"), params)}


def build(settings, params):
    """The optimiser that the fields settings describe, over params (name → tensor that requires a gradient). The learning rate is
    passed to every step. Refused for an unknown kind."""
    return OPTIMISERS[settings.choice("kind", OPTIMISERS)](settings, params)
