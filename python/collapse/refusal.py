"""The message of a Tap when no classifier could be proved: why, and the call that would work."""

import json

from .errors import ClassifierError
from .heads import Held, find, under


def call(**options):
    """Tap(model, folder, ...) as the user should write it."""
    words = {True: "True", False: "False", None: "None"}
    shown = ["%s=%s" % (name, words[value] if value is None or isinstance(value, bool) else json.dumps(value)) for name, value in options.items()]
    return "Tap(%s)" % ", ".join(["model", "folder"] + shown)


def only_head(products, outputs, modules, wanted, finished, pool):
    """The one head that gives the model's output. Raises ClassifierError if there is none, or more than one."""
    if outputs and all(output.numel() == 0 for _, output in outputs):
        raise ClassifierError("the first batch is empty, and the classifier is proved on it; begin with one that holds samples")
    heads = find(products, outputs, modules, wanted)
    if len(heads) == 1:
        return heads[0]
    if heads:
        raise _several(heads)
    others = find(products, outputs, modules, None) if wanted is not None else []
    raise _none(products, outputs, Held(modules), wanted, others, _Before(products, outputs, modules, wanted, finished, pool))


def _several(heads):
    names = sorted({head.name for head in heads})
    parts = ", ".join("%s comes from %r" % (head.path or "the output", head.name) for head in heads)
    if len(names) == len(heads):
        return ClassifierError("the model returns the logits of several classifiers: %s. Choose one: %s"
                               % (parts, " or ".join(call(classifier=name) for name in names)), names)
    picks = [head.path for head in heads]
    return ClassifierError("the model returns several logits: %s. Say which are meant with logits=, a key, an index or a function of "
                           "what the model returns: %s" % (parts, " or ".join(_pick(path) for path in picks)), names)


def _pick(path):
    """The call that picks one output by its path."""
    for form in (path[1:-1] if path.startswith("[") else None, repr(path[1:]) if path.startswith(".") else None):
        if form is not None and not any(c in form for c in "[]."):
            return "Tap(model, folder, logits=%s)" % form.replace("'", '"')
    return "Tap(model, folder, logits=lambda out: out%s)" % path


def _none(products, outputs, held, wanted, others, before):
    if not outputs:
        found = "the model returns no tensor of logits, so that no classifier can be proved; let it return them"
    elif not any(bool(output.isfinite().all()) for _, output in outputs):
        found = "what the model returns for the first batch holds NaN or infinity, which proves no classifier"
    elif wanted is not None and not any(under(name, wanted) for product in products for name in held.names_of(product)[0]):
        found = ("module %r multiplied nothing by weights of its own in the first forward pass (a compiled or scripted module "
                 "cannot be seen)" % wanted)
    elif wanted is not None:
        found = "the output of module %r is not what the model returns" % wanted
    elif not products:
        found = "no linear layer, matrix product or 1×1 convolution was seen in the first forward pass, so there is no classifier to take"
    else:
        last = held.names_of(products[-1])[0]
        found = ("what the model returns is not W h + b of any of its linear layers (the last one to run was %r): something else "
                 "follows or is added, such as a margin, a mean of several heads, an adapter or a scripted module" % (last[0] if last else ""))
    if others:
        names = sorted({head.name for head in others})
        return ClassifierError("%s; %s gives it. Write %s" % (found, " or ".join(map(repr, names)),
                                                              " or ".join(call(classifier=name) for name in names)), names)
    return ClassifierError("%s. %s" % (found, before.advice()))


class _Before:
    """The module whose output is the classifier's input, as far as the order of modules tells."""

    def __init__(self, products, outputs, modules, wanted, finished, pool):
        self._names = {id(module): name for name, module in modules.items()}
        self._finished, self._pool = finished, pool
        self._shapes = {tuple(output.shape) for _, output in outputs}
        widths = {size for shape in self._shapes for size in (shape[-1:] if len(shape) < 3 else (shape[1], shape[-1]))}
        # The first of the last few products that are as wide as the output: an adapter or a second head runs after it.
        likely = [product for product in products[-4:] if len(product.weight) in widths]
        self._limit = likely[0].finished if likely else len(finished)
        ran = self._names.get(id(likely[0].module)) if likely else None
        self._inside = wanted or (ran or "").rpartition(".")[0]

    def advice(self):
        runs = [id(module) for module, _ in self._finished]
        for skip in (self._inside, None):
            for module, shape in reversed(self._finished[:self._limit]):
                name = self._names.get(id(module))
                if not name or shape is None or tuple(shape) in self._shapes or runs.count(id(module)) > 1 or skip and under(name, skip):
                    continue
                if len(shape) in (2, 4, 5) and self._pool == "mean" or callable(self._pool):
                    return "Features can be taken without a classifier: " + call(classifier=None, layers=[name])
                if len(shape) >= 3:
                    pool = "tokens" if len(shape) == 3 else "flatten"
                    return "Features can be taken without a classifier: " + call(classifier=None, layers=[name], pool=pool)
        return ("Features can be taken without a classifier: put a torch.nn.Identity() named `features` where they are, and write "
                + call(classifier=None, layers=["features"]))
