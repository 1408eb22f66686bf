"""Finds the classifier: the linear product whose weights and bias give the model's output, proved on the first batch."""

import torch

from . import proof
from .chosen import chosen
from .errors import ClassifierError
from .products import Product

MOST_OUTPUTS, DEEPEST = 32, 3  # how deep and how wide to search the tuples, dicts and objects that a model returns


class Head:
    """The classifier that was found.

    name     the module that holds the weights, else the innermost one that used them; "" is the model itself.
    path     where the logits are in what the model returns: "", ".logits", "[0]", "['out']".
    reading  a proof.Reading.
    place    which of the products with these weights in a forward pass it is, counted from the last (-1);
             None if all of them together, concatenated.
    chosen   whether the product has more positions than the output, which holds those of one for each sample.
    """

    def __init__(self, candidate, path, reading, held, chosen=False):
        names, self._owned, self.place, self.last = candidate
        self.name, self.path, self.reading, self.chosen = names[0] if names else "", path, reading, chosen
        self.shape, self._address, self._held = tuple(self.last.weight.shape), self.last.address, held

    def wants(self, product):
        """Whether a later product may be this one: it has the same weights, or equally many that no module holds, if they are
        computed anew each time."""
        if tuple(product.weight.shape) != self.shape:
            return False
        return product.address == self._address if self._owned else product.address not in self._held

    def take(self, products, outputs):
        """The product of a later batch, verified on a few of its rows. Raises ClassifierError if that fails."""
        alike = [product for product in products if self.wants(product)]
        calls = len(alike)
        if self.place is None:
            product = _together(alike)
        else:
            product = alike[self.place] if calls >= -self.place else None
        output = dict(outputs).get(self.path)
        if product is None or output is None:
            raise ClassifierError("module %r ran in the first batch, but not in a later one; capture with a model that takes the "
                                  "same way for every batch" % self.name, [])
        if 0 in product.positions:
            self.last = product
            return product  # an empty batch
        if self.chosen:
            product = chosen(product, output, self.reading.tolerance)
            if product is None:
                raise ClassifierError("in a later batch the output is not what the classifier %r gives at one position of each sample, or it "
                                      "gives that at several" % self.name)
        ways = proof.arrangements(output, product.positions, self.shape[0])
        if not ways:
            raise ClassifierError("the output of a later batch has shape %s, which is not that of the classifier %r on positions %s"
                                  % (tuple(output.shape), self.name, product.positions))
        error = min(self._spot_check(product, way) for way in ways)
        if not error <= self.reading.tolerance:
            raise ClassifierError("in a later batch the output is not what the classifier %r gives: it is off by %.1e of its size, "
                                  "where %.1e is rounding; the model does something else there"
                                  % (self.name, error, self.reading.tolerance))
        self.last = product
        return product

    def _spot_check(self, product, output):
        rows = proof.sampled(output.shape[0], proof.SPOT_ROWS)
        k, d = self.shape
        most = k if self.reading.transform not in proof.TRANSFORMS[:4] else max(16, proof.SPOT_WEIGHTS // max(1, d))
        classes = proof.sampled(k, most)
        r, scale = proof.products_in_float64(product, rows, classes)
        picked = output[rows.to(output.device)][:, classes.to(output.device)].detach().cpu().double()
        return proof.deviation(self.reading, r, scale, picked, classes, proving=False)

    def weights(self):
        """(W, b) with logits W h + b, as tensors on the CPU; b is None if there is none."""
        weight, bias = _widened(self.last.weight), self.last.bias
        bias = None if bias is None else _widened(bias)
        if self.reading.scale == 1.0 and self.reading.offset is None:
            return weight, bias
        kind = weight.dtype
        total = torch.zeros(self.shape[0], dtype=torch.float64) if bias is None else self.reading.scale * bias.double()
        if self.reading.offset is not None:
            total = total + self.reading.offset
        has_bias = bias is not None or self.reading.offset is not None
        return (self.reading.scale * weight.double()).to(kind), total.to(kind) if has_bias else None

    def release(self):
        """Frees the features of the last batch; the weights are kept."""
        self.last.h = None

    def describe(self):
        """The description of the proof in tap.json."""
        return {"output": self.path, "one_position": self.chosen, "transform": self.reading.transform, "scale": self.reading.scale, "rows": self.reading.rows,
                "largest_error": self.reading.error, "tolerance": self.reading.tolerance}


def _widened(tensor):
    return tensor.cpu() if tensor.dtype is torch.float64 else tensor.float().cpu()


def outputs_of(value, pick=None):
    """[(path, tensor)] for the floating-point tensors with at least one axis that a model returned. If one is named logits, it is
    the only one. pick is a key, an index or a function that selects one."""
    if pick is not None:
        try:
            chosen = pick(value) if callable(pick) else _named(value, pick) if isinstance(pick, str) else value[pick]
        except (KeyError, IndexError, AttributeError, TypeError) as e:
            raise ClassifierError("logits=%r is no part of the %s that the model returns (%s: %s)"
                                  % (pick, type(value).__name__, type(e).__name__, e)) from None
        if not isinstance(chosen, torch.Tensor):
            raise ClassifierError("logits=%r picks a %s from what the model returns; a tensor is wanted" % (pick, type(chosen).__name__))
        return [("logits=%s" % (getattr(pick, "__name__", "function") if callable(pick) else repr(pick)), chosen)]
    if not isinstance(value, torch.Tensor):
        try:
            logits = _named(value, "logits")
        except (KeyError, AttributeError, TypeError):
            logits = None
        if isinstance(logits, torch.Tensor):
            return [(".logits", logits)]
    found = []
    _gather(value, "", DEEPEST, found)
    return found


def _named(value, name):
    return value[name] if isinstance(value, dict) and name in value else getattr(value, name)


def _gather(value, path, depth, found):
    if isinstance(value, torch.Tensor):
        if value.is_floating_point() and value.dim() > 0 and len(found) < MOST_OUTPUTS:
            found.append((path, value))
    elif depth > 0 and isinstance(value, dict):
        for key, item in value.items():
            _gather(item, "%s[%r]" % (path, key), depth - 1, found)
    elif depth > 0 and isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            _gather(item, "%s[%d]" % (path, i), depth - 1, found)
    elif depth > 0 and hasattr(value, "__dict__") and not isinstance(value, torch.nn.Module):
        for key, item in vars(value).items():
            _gather(item, "%s.%s" % (path, key), depth - 1, found)


class Held:
    """Which modules hold which weights as parameters or buffers."""

    def __init__(self, modules):
        self._names = {id(module): name for name, module in modules.items()}
        self._holders = {}  # address -> [(name, number of elements)]
        for name, module in modules.items():
            for tensor in list(module.parameters(recurse=False)) + list(module.buffers(recurse=False)):
                try:
                    self._holders.setdefault(tensor.data_ptr(), []).append((_plain(name), tensor.numel()))
                except (RuntimeError, ValueError):
                    pass  # a lazy parameter of a module that has not run
        self._holders.pop(0, None)
        self.addresses = frozenset(self._holders)

    def names_of(self, product):
        """(names, held): the names under which a product's weights can be requested, best first. Modules that hold them
        (the one that ran, if it is among them), then the innermost module that ran."""
        holders = [name for name, count in self._holders.get(product.address, ()) if count == product.weight.numel()]
        ran = self._names.get(id(product.module))
        if ran in holders:
            holders.remove(ran)
            return [ran] + holders, True
        return holders + ([] if ran is None else [ran]), bool(holders)


def _plain(name):
    """The module itself instead of the list in which torch.nn.utils.parametrize keeps its parameter."""
    return ("." + name).partition(".parametrizations.")[0][1:]


def under(name, wanted):
    """Whether the module `name` is `wanted` or inside it."""
    return wanted == "" or name == wanted or name.startswith(wanted + ".")


def find(products, outputs, modules, wanted):
    """All heads that give one of the outputs: [Head], with the product that ran last first; at most one per output.

    wanted: None, or the name of the module they must belong to.
    """
    held = Held(modules)
    candidates = _candidates(products, held, wanted)
    heads = []
    for path, output in outputs:
        head = _prove(candidates, path, output, held.addresses)
        if head is not None:
            heads.append(head)
    return heads


def _candidates(products, held, wanted):
    """[(names, owned, place, Product)]: each product, then the calls with shared weights combined, the last ones first."""
    groups = {}
    for product in products:
        names, owned = held.names_of(product)
        key = (product.address if owned else None, tuple(product.weight.shape))
        groups.setdefault(key, []).append((product, names, owned))
    order = {id(product): i for i, product in enumerate(products)}
    singles, several = [], []
    for calls in groups.values():
        for i, (product, names, owned) in enumerate(calls):
            singles.append((order[id(product)], (names, owned, i - len(calls), product)))
        if len(calls) > 1 and calls[0][2]:
            together = _together([product for product, _, _ in calls])
            if together is not None:
                several.append((order[id(calls[-1][0])], (calls[0][1], True, None, together)))
    ordered = [entry for group in (singles, several) for _, entry in sorted(group, key=lambda pair: -pair[0])]
    return [entry for entry in ordered if wanted is None or any(under(name, wanted) for name in entry[0])]


def _together(calls):
    """Several products with the same weights as one: stacked if they have the same shape, else concatenated."""
    if len(calls) < 2 or len({call.h.shape[1:] for call in calls}) != 1:
        return None
    joined = Product.__new__(Product)
    joined.__dict__.update(calls[-1].__dict__)
    alike = len({call.h.shape for call in calls}) == 1
    joined.h = torch.stack([call.h for call in calls]) if alike else torch.cat([call.h for call in calls])
    return joined


def _prove(candidates, path, output, held):
    fitting = [(entry, way) for entry in candidates for way in proof.arrangements(output, entry[3].positions, len(entry[3].weight))]
    computed = {}
    for transform in proof.TRANSFORMS:
        for candidate, way in fitting:
            product = candidate[3]
            rows = proof.sampled(way.shape[0], proof.rows_to_compare(product))
            if id(product) not in computed:
                computed[id(product)] = proof.products_in_float64(product, rows)
            picked = way[rows.to(way.device)].detach().cpu().double()
            reading = proof.fit(transform, *computed[id(product)], picked, proof.tolerance(product, output), torch.finfo(output.dtype).tiny)
            if reading is not None:
                return Head(candidate, path, reading, held)
    return _prove_chosen(candidates, path, output, held)


def _prove_chosen(candidates, path, output, held):
    """The head of which the output holds one position of each sample; None if there is none."""
    for names, owned, place, product in candidates:
        tol = proof.tolerance(product, output)
        picked = None if place is None else chosen(product, output, tol)
        if picked is None:
            continue
        rows = proof.sampled(len(output), proof.rows_to_compare(picked))
        way = output.reshape(len(output), -1)[rows.to(output.device)].detach().cpu().double()
        reading = proof.fit("none", *proof.products_in_float64(picked, rows), way, tol, torch.finfo(output.dtype).tiny)
        if reading is not None:
            return Head((names, owned, place, picked), path, reading, held, chosen=True)
    return None
