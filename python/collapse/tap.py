"""Captures features of a PyTorch model while the user's own loop runs, and proves which layer is its classifier."""

import json
import os
import sys
import warnings

import numpy as np

from .arguments import check_arguments, module_named
from .folders import CORRUPTED, FEATURES, INFO_FILE, LABELS, TRUE_LABELS, CaptureFolder, layer_stream
from .rows import Dropped, array_of, integers, rows_of, rows_on_device, same_weights, select, to_numpy
from .shards import ShardWriter


def _outside():
    """The stacklevel, for who calls this, of the first frame that is neither PyTorch's nor this package's: the user's own."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("torch", "collapse", "contextlib"):
        level, frame = level + 1, frame.f_back
    return level


class Tap:
    """Writes features and labels of every batch that runs inside its `with` block.

        with Tap(model, "out/features", layers=["layer3", "layer4"]) as tap:
            for x, y in loader:
                model(x)
                tap.labels(y)

    What is written is described in FOLDER/tap.json:
        features/*.npy       the classifier's input, which papers call last-layer features
        layers/NAME/*.npy    the output of each module of `layers`
        labels/*.npy         int64, one label per row
        weight.npy, bias.npy W (K, d) and b (K): W h + b are the model's logits

    The classifier is the linear product, in any layer or expression, whose result is the model's output. This is
    proved on the first batch in float64: |output − (W h + b)| ≤ (16 u + d u') · (√(Σ W² h² + b²) + |output|), with u the unit
    roundoff of the least precise dtype involved and u' that of the sums (2⁻²⁴; 2⁻⁵³ for float64). The output may be scaled
    (then W and b are, too), have a bias added, or be the log_softmax, softmax or sigmoid of the logits; it may hold the logits of
    one position of each sample, as decoders for sequence classification return them: features are taken there. A few rows of every later
    batch are also compared. If the proof fails, a ClassifierError names the call that would work.

    Values are float32 (float64 if the model computes in it; float16 and bfloat16 are widened, which
    is exact). At most one batch is held in memory. Hooks are removed when the block ends, even by
    an exception; the capture is then marked incomplete, and one without any samples leaves no files.

    model       any torch.nn.Module on any device. Put it in eval mode first, as the papers do.
    folder      new or empty: each capture has its own folder.
    classifier  "auto" finds it; the name of a module (as in model.named_modules()) that holds or uses the weights
                chooses among several; None captures only `layers`, and proves nothing.
    layers      names of modules whose outputs are captured as well.
    pool        how an output of `layers` with more than two axes becomes rows: "mean" over the spatial axes of
                (N, C, H, W) or (N, C, D, H, W); "flatten"; "tokens", the mean over axis 1 of (N, T, C);
                "positions", one row per token or pixel; or a function from the module's output to a
                tensor (rows, width). The classifier's input always has one row per position.
    labelled    False for data without labels, such as out-of-distribution samples.
    logits      which part of the model's output the logits are, if it returns several: a key, an index or
                a function of the output.
    overwrite   True to replace an older capture in the folder once the new one is complete.
    shard_bytes size at which a file ends and the next begins.
    keep        "features", or "states": then at most 64 rows are kept, and FOLDER/features.ncs and FOLDER/layers/NAME.ncs hold a state
                (docs/internal/ncs.md) of every stream with the count, mean and scatter of each class, summed in float64 on the
                model's device. States give every measure that one pass over the samples can give.
    drop_nonfinite  with keep="states": True to leave out rows with NaN or infinity and count them; otherwise they are refused.
    """

    def __init__(self, model, folder, *, classifier="auto", layers=(), pool="mean", labelled=True, logits=None, overwrite=False,
                 shard_bytes=64 << 20, keep="features", drop_nonfinite=False):
        check_arguments(model, layers, pool, keep, labelled, drop_nonfinite)
        modules = dict(model.named_modules())
        self._model, self._pool, self._labelled = model, pool, labelled
        self._wanted = None if classifier == "auto" else classifier
        self._takes_head = classifier is not None
        if self._wanted is not None:
            module_named(modules, classifier)
        self._sources = {layer_stream(name): (module_named(modules, name), name) for name in layers}
        if not self._sources and not self._takes_head:
            raise ValueError("collapse: there is nothing to take: classifier is None and layers is empty")
        self._given, self._shard_bytes, self._overwrite, self._pick = os.fspath(folder), shard_bytes, overwrite, logits
        self._states, self._drop_nonfinite = keep == "states", drop_nonfinite
        self._rows = rows_on_device if self._states else rows_of
        self._folder, self._writer, self._hooks, self._recorder = None, None, [], None
        self._head, self._positions, self._dropped = None, None, Dropped()
        self._pending = {}  # stream -> rows of the current batch, which then waits for its labels
        self._waiting = False  # the batch is complete
        self._modes = set()

    def __enter__(self):
        self._folder = CaptureFolder(self._given, self._overwrite)
        self._writer = self._new_writer(self._folder.path)
        # The hooks on the model itself come first: they must see a new batch before its layers do.
        self._hooks = [self._model.register_forward_pre_hook(self._batch_begins)]
        for stream, (module, name) in self._sources.items():
            self._hooks.append(module.register_forward_hook(self._taker(stream, name)))
        self._hooks.append(self._model.register_forward_hook(self._batch_ends))
        if self._takes_head:
            from .products import Recorder
            self._recorder = Recorder(self._asked_for)
            self._recorder.__enter__()
        return self

    def _new_writer(self, path):
        if not self._states:
            return ShardWriter(path, self._shard_bytes)
        from .states import StateWriter
        return StateWriter(path, self._drop_nonfinite)

    def labels(self, y, *, true=None, corrupted=None, ignore_index=None, mask=None):
        """Pairs the batch that just ran with its labels, and writes both.

        y: the labels that the model is trained on, integers (N), or (N, T) for tokens, (N, H, W) for pixels: the shape
        on which the classifier ran, or that shape flattened; as a tensor, an array or a list.
        true: the labels before noise; corrupted: True where a label was redrawn. Both are for
        memorization measures, have y's shape, and must be given for every batch or for none.
        ignore_index: a label, or a list of them, that stands for "no label", as in cross_entropy (-100).
        mask: of y's shape, True where a label counts. Rows that are left out are not written;
        tap.json counts them. Other negative labels are refused, but for -1 and 1 as the two classes.
        """
        if self._writer is None:
            raise RuntimeError("collapse: labels was called outside the `with` block")
        if not self._labelled:
            raise RuntimeError("collapse: labels was called on a Tap with labelled=False")
        if not self._waiting:
            raise RuntimeError("collapse: labels was called, but no batch ran since the last call; run model(x) first, "
                               "once for each call of labels, the model itself and not its parts")
        if self._states and not (true is None and corrupted is None):
            raise ValueError("collapse: true= and corrupted= are for memorization measures, which need the features of every such sample; "
                             "keep=\"states\" keeps none of them")
        positions = self._shape_of_labels(y)
        extra = {LABELS: integers(y, "labels", positions)}
        if true is not None:
            extra[TRUE_LABELS] = integers(true, "true labels", positions)
        if corrupted is not None:
            extra[CORRUPTED] = integers(corrupted, "corrupted", positions).astype(bool)
        kept, counts = self._dropped.keep(extra[LABELS], positions, ignore_index, mask, self._may_be_signs())
        self._write(extra, kept)
        self._dropped.count(kept, counts)

    def __exit__(self, kind, error, trace):
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        if self._recorder is not None:
            self._recorder.stop()
            self._recorder.__exit__(kind, error, trace)
        writer, self._writer = self._writer, None
        writer.close()
        complaint = self._complaint(writer) if kind is None else None
        self._pending, self._waiting = {}, False
        if writer.samples == 0:
            self._folder.clear()
        else:
            self._save_info(writer, kind.__name__ if kind else complaint)
            if kind is None and complaint is None:
                self._folder.commit()
            elif self._folder.replaces:
                warnings.warn("collapse: the capture did not end well; the older one in %r stays, what was taken is in %r"
                              % (self._given, self._folder.path), stacklevel=2)
        if complaint:
            raise ValueError("collapse: " + complaint)
        return False

    def _complaint(self, writer):
        """What is wrong with a block that ended without an exception; None if nothing."""
        if self._waiting:
            return "the last batch has no labels; call tap.labels(y) after each model(x)"
        if writer.samples == 0 and self._dropped.total:
            return "ignore_index and mask left out all %d positions" % self._dropped.total
        if writer.samples == 0:
            return "no batch ran inside the `with` block; run the model itself, not a compiled or scripted copy of it"
        if self._head is not None and not self._weights_as_saved():
            return ("the classifier's weights changed inside the `with` block (an optimiser's step?), so that the features belong to several "
                    "models; capture after the epoch, in a loop of its own")
        return writer.complaint() if self._states else None

    def _may_be_signs(self):
        """Whether labels −1 and 1 can be two classes, as losses with margins have them; states number classes from 0."""
        return not self._states and (self._head is None or self._head.shape[0] == 2)

    def _asked_for(self, product):
        """Whether a product of the first batch ran inside the module that the user named."""
        from .heads import under
        name = next((name for name, module in self._model.named_modules() if module is product.module), None)
        return self._wanted is not None and name is not None and under(name, self._wanted)

    def _batch_begins(self, module, inputs):
        """Runs before each forward pass of the model."""
        if module.training and True not in self._modes:
            warnings.warn("collapse: the model is in training mode: batch norm and dropout act on the features, and the "
                          "weights may change between batches; call model.eval() first", stacklevel=_outside())
        self._modes.add(bool(module.training))
        if self._waiting:
            raise RuntimeError("collapse: the model ran twice without labels; call tap.labels(y) after each model(x), "
                               "or use Tap(..., labelled=False)")
        self._pending = {}  # discards what a failed forward pass left
        if self._recorder is not None:
            self._recorder.forget_modules()
            if self._head is None:
                self._recorder.watch_modules()
            self._recorder.begin(module)

    def _batch_ends(self, module, inputs, output):
        """Runs after each forward pass of the model: proves the classifier, and captures its input."""
        for stream, (_, name) in self._sources.items():
            if stream not in self._pending:
                raise RuntimeError("collapse: module %r did not run in this batch" % name)
        if self._recorder is not None:
            self._take_features(output)
        self._waiting = True
        if not self._labelled:
            self._write({})

    def _take_features(self, output):
        from .heads import outputs_of
        from .refusal import only_head
        finished, products = self._recorder.finished, self._recorder.end()
        outputs = outputs_of(output, self._pick)
        if self._head is None:
            self._recorder.forget_modules()
            head = only_head(products, outputs, dict(self._model.named_modules()), self._wanted, finished, self._pool)
            product = head.last
            self._save_classifier(head)
            self._head, self._recorder.wanted = head, head.wants
        else:
            product = self._head.take(products, outputs)
        self._positions = product.positions
        h = product.h.reshape(-1, product.h.shape[-1])
        self._pending[FEATURES] = self._rows(h, None, self._head.name)
        self._head.release()

    def _taker(self, stream, name):
        def take(module, inputs, output):
            if stream in self._pending:
                raise RuntimeError("collapse: module %r ran twice before tap.labels(y); only a module that runs once a "
                                   "batch can be tapped" % name)
            self._pending[stream] = self._rows(output, self._pool, name)
        return take

    def _shape_of_labels(self, y):
        """The shape that labels must have: the classifier's positions, or what the layers' rows allow."""
        if FEATURES in self._pending:
            return self._positions
        rows, shape = len(next(iter(self._pending.values()))), array_of(y).shape
        fits = self._pool == "positions" and int(np.prod(shape, dtype=np.int64)) == rows
        return shape if fits else (rows,)

    def _write(self, extra, kept=None):
        batch = {**self._pending, **extra}
        sizes = {name: len(array) for name, array in batch.items()}
        if len(set(sizes.values())) != 1:
            raise ValueError("collapse: streams have different numbers of rows: %s; the classifier's input has a row for each token or "
                             "pixel, and pool='positions' gives layers the same" % sizes)
        self._pending, self._waiting = {}, False
        if kept is None or kept.all():
            self._writer.append(batch)
        elif kept.any():
            self._writer.append({name: select(rows, kept) for name, rows in batch.items()})

    def _save_classifier(self, head):
        weight, bias = head.weights()
        np.save(os.path.join(self._folder.path, "weight.npy"), to_numpy(weight))
        if bias is not None:
            np.save(os.path.join(self._folder.path, "bias.npy"), to_numpy(bias))

    def _weights_as_saved(self):
        """Whether the weights are still those of the first batch, up to rounding."""
        weight, bias = self._head.weights()
        for name, tensor in (("weight.npy", weight), ("bias.npy", bias)):
            if tensor is not None and not same_weights(to_numpy(tensor), np.load(os.path.join(self._folder.path, name), mmap_mode="r")):
                return False
        return True

    def _save_info(self, writer, error):
        """Writes tap.json, last and atomically: a capture without it did not end."""
        head = self._head
        info = {
            "format": "collapse_tap 2" if self._states else "collapse_tap 1",
            "keep": "states" if self._states else "features",
            "complete": error is None,
            "error": error,
            "samples": writer.samples,
            "shards": writer.shards,
            "classifier": None if head is None else head.name,
            "bias": None if head is None else os.path.exists(os.path.join(self._folder.path, "bias.npy")),
            "proof": None if head is None else head.describe(),
            "mode": {frozenset(): None, frozenset([True]): "train", frozenset([False]): "eval"}.get(frozenset(self._modes), "mixed"),
            "pool": getattr(self._pool, "__name__", repr(self._pool)) if callable(self._pool) else self._pool,
            "dropped": self._dropped.describe(),
            "streams": {name: self._describe(writer, name, dtype, shape) for name, (dtype, shape) in writer.streams.items()},
        }
        path = os.path.join(self._folder.path, INFO_FILE)
        with open(path + ".part", "w") as f:
            json.dump(info, f, indent=1)
            f.write("\n")
        os.replace(path + ".part", path)

    def _describe(self, writer, stream, dtype, shape):
        entry = {"dtype": dtype.str, "width": shape[0] if shape else None}
        if self._states:
            entry.update(writer.describe(stream))
        if stream == FEATURES:
            entry["module"], entry["side"] = self._head.name, "input"
        elif stream in self._sources:
            entry["module"], entry["side"] = self._sources[stream][1], "output"
        return entry
