"""measure(): of a Tap's folder or a file (command.py), or of arrays in memory (here)."""

import numbers
import os
import re
import shutil
import tempfile
from typing import Any, Optional, Sequence, Union

from .arena import available_memory
from .arrays import Labels, block, file_of, ignored_labels, is_tensor, rows
from .command import MeasureError, call, find_binary
from .command import measure as measure_folder
from .helper import helper_of, say_once
from .result import Result


def measure(features: Any, labels: Any = None, W: Any = None, b: Any = None, *, test: Any = None, ood: Any = None, true: Any = None,
            corrupted: Any = None, measures: Union[None, str, Sequence[str]] = None, classes: Union[None, int, Sequence[str]] = None,
            ignore_index: Union[None, int, str, Sequence[Union[int, str]]] = None, min_count: Optional[int] = None, imbalance: Optional[str] = None,
            null: Optional[int] = None, rcond: Optional[float] = None, drop_nonfinite: bool = False, threads: Optional[int] = None,
            keep: Optional[str] = None, layer: Optional[str] = None, partial: bool = False, binary: Any = None,
            arguments: Sequence[str] = ()) -> Result:
    """The collapse measures of features and labels, as a Result.

    measure(H, y, W=None, b=None, ...)   of arrays: numpy, torch on any device, lists. docs/python.md
        H            (n, d) features of train samples.
        y            (n) labels: class numbers, or words.
        W, b         the classifier: logits are H W^T + b, W (K, d). A module with weight and bias can be given for both.
        test         (H, y) of test samples.
        ood          H of out-of-distribution samples.
        true         (n) labels before noise; corrupted: (n) True where a label was redrawn.
        measures     "default", "all", or keys of docs/measures.md.
        classes      names of the classes in the order of W's rows, or their number.
        ignore_index, min_count, imbalance, null, rcond, drop_nonfinite, threads: as the flags of `collapse measure`.
        keep         "states": sums over classes instead of samples, on the tensor's device (needs torch); chosen automatically if
                     the features on a device do not fit into memory.
        binary       path of the program. arguments: more flags, such as ["--html", "page.html"].

    measure("x.npz")                     of a file that `collapse measure` reads (docs/measuring.md); labels and W, b may be files of their own.

    measure(folder, test=..., ood=..., layer=..., partial=...)   of a folder that a Tap has written.

    Raises TypeError or ValueError for arrays that make no sense, MeasureError if the program refuses them.
    """
    options = dict(measures=measures, classes=classes, ignore_index=ignore_index, min_count=min_count, imbalance=imbalance, null=null, rcond=rcond,
                   drop_nonfinite=drop_nonfinite, threads=threads)
    if _is_path(features):
        _refuse(features, keep=keep, true=true, corrupted=corrupted)
        flags = measure_flags(**options) + list(arguments)
        dataset = os.path.exists(os.path.join(os.fsdecode(features), "dataset_info.json"))  # of Hugging Face: the program reads it
        if not dataset and os.path.isdir(features) or not os.path.exists(features):
            _refuse(features, labels=labels, W=W, b=b)
            return Result(measure_folder(features, test=test, ood=ood, layer=layer, partial=partial, binary=binary, arguments=flags))
        _refuse(features, test=test, ood=ood, layer=layer, partial=partial or None)
        return Result(call([find_binary(binary), "measure", "--json"] + _files(features, labels, W, b) + flags))
    if labels is None:
        raise TypeError("collapse: features without labels; pass measure(H, y) with one label for each row, a file, or the folder of a Tap")
    if layer is not None or partial:
        raise TypeError("collapse: layer and partial are of folders that a Tap has written; pass the features of that layer")
    return measure_arrays(features, labels, W, b, test=test, ood=ood, true=true, corrupted=corrupted, keep=keep, binary=binary, arguments=arguments, **options)


def _is_path(value):
    return isinstance(value, (str, bytes, os.PathLike))


def _refuse(path, **options):
    """Raises for options that files and folders have in themselves."""
    for name, value in options.items():
        if value is not None:
            raise TypeError("collapse: %s does not go with %r, which is a folder or a file; pass arrays, or flags of `collapse measure` as arguments=[...]"
                            % (name, os.fspath(path)))


def _files(features, labels, W, b):
    paths = [(flag, value) for flag, value in (("--features", features), ("--labels", labels), ("--weights", W), ("--bias", b)) if value is not None]
    for flag, value in paths:
        if not _is_path(value):
            raise TypeError("collapse: %r is a file, and %s is a %s; pass files, or arrays" % (os.fspath(features), flag[2:], type(value).__name__))
    if len(paths) == 1:
        return [os.fspath(features)]
    return [part for flag, value in paths for part in (flag, os.fspath(value))]


# Options of measure() that are flags of the program, for doors that capture before they measure.
FLAG_OPTIONS = ("measures", "classes", "ignore_index", "min_count", "imbalance", "null", "rcond", "threads")


def measure_flags(measures=None, classes=None, ignore_index=None, drop_nonfinite=False, **others):
    """The flags of `collapse measure` for options of measure()."""
    names = [] if classes is None or isinstance(classes, numbers.Integral) else [str(name) for name in classes]
    if any("," in name for name in names):
        raise ValueError("collapse: a name in classes has a comma; pass arrays, or files whose labels are numbers")
    flags = _flags(measures=_keys(measures), ignore_label=ignored_labels(ignore_index), classes=None if names else classes, class_names=",".join(names) or None,
                   **others)
    return flags + (["--drop-nonfinite"] if drop_nonfinite else [])


def measure_arrays(H, y, W=None, b=None, *, test=None, ood=None, true=None, corrupted=None, measures=None, classes=None, ignore_index=None,
                   min_count=None, imbalance=None, null=None, rcond=None, drop_nonfinite=False, threads=None, keep=None, binary=None, arguments=()):
    """measure() of arrays."""
    if keep not in (None, "samples", "states"):
        raise ValueError("collapse: keep is %r; it must be 'samples' or 'states'" % (keep,))
    ignore = ignored_labels(ignore_index)
    names = Labels(classes)
    blocks = _train(H, y, names, ignore) + _classifier(W, b)
    train = blocks[0]
    _check_classifier(blocks, names)
    more = _more(train, blocks[1].shape[0], names, ignore, test, ood, true, corrupted)
    flags = _flags(measures=_keys(measures), ignore_label=names.ignored(ignore), min_count=min_count, imbalance=imbalance, null=null, rcond=rcond, threads=threads)
    if names.k is not None and W is None:
        flags += ["--classes", str(names.k)]
    elif names.names is not None and W is None:
        flags += ["--classes", str(len(names.names))]
    flags += list(arguments)
    helper = helper_of(find_binary(binary))
    if keep == "states" or keep is None and not more and _too_large(train):
        if more:
            raise ValueError("collapse: keep='states' holds sums over the train samples, and test, ood, true and corrupted need samples; leave them out")
        answer = _of_states(helper, blocks, flags, drop_nonfinite)
    else:
        answer = _of_samples(helper, blocks + more, flags + (["--drop-nonfinite"] if drop_nonfinite else []))
    return _result(answer, helper, names)


def _train(H, y, names, ignore):
    train = rows("features", H, "H")
    return [train, block("labels", names.numbers(y, train.shape[0], "y", ignore, train.shape[1]), "y")]


def _classifier(W, b):
    if W is None:
        if b is not None:
            raise TypeError("collapse: b is given without W; pass both, or none")
        return []
    if hasattr(W, "weight") and not hasattr(W, "shape"):  # a module
        W, b = W.weight, getattr(W, "bias", None) if b is None else b
    return [block("weight", W, "W")] + ([] if b is None else [block("bias", b, "b")])


def _check_classifier(blocks, names):
    train, weight = blocks[0], next((x for x in blocks if x.name == "weight"), None)
    if weight is None:
        return
    d, shape = train.shape[1], weight.shape
    if len(shape) != 2 or shape[1] != d:
        raise ValueError("collapse: W has shape %s, and the features have width %d; (K, %d) is wanted%s"
                         % (shape, d, d, ": pass W.T" if len(shape) == 2 and shape[0] == d else ""))
    if shape[0] == 1 and names.k in (None, 2):
        raise ValueError("collapse: W has one row, the logit of one class against the other; pass two, -w/2 and w/2 (np.vstack([-W, W]) / 2), and the same of b")
    bias = next((x for x in blocks if x.name == "bias"), None)
    if bias is not None and bias.shape != (shape[0],):
        raise ValueError("collapse: b has shape %s, and W has %d rows; (%d,) is wanted" % (bias.shape, shape[0], shape[0]))
    if names.from_words:
        raise ValueError("collapse: y holds words, and nothing says which row of W is whose; pass classes=[…] with the names in the order of W's rows")
    k = names.k if names.k is not None else shape[0]
    if k != shape[0]:
        raise ValueError("collapse: classes are %d, and W has %d rows; one row for each class is wanted" % (k, shape[0]))


def _more(train, n, names, ignore, test, ood, true, corrupted):
    blocks = []
    if test is not None:
        if not (isinstance(test, (tuple, list)) and len(test) == 2):
            raise TypeError("collapse: test is a %s; test=(H, y) with the features and labels of test samples is wanted" % type(test).__name__)
        blocks = [rows("test_features", test[0], "H of test")]
        blocks.append(block("test_labels", names.numbers(test[1], blocks[0].shape[0], "y of test", ignore, blocks[0].shape[1]), "y of test"))
    if ood is not None:
        blocks.append(rows("ood", ood, "ood"))
    for b in blocks:
        if b.name != "test_labels" and b.shape[1] != train.shape[1]:
            raise ValueError("collapse: %s has width %d, and H has %d; features of one layer are wanted" % (b.name, b.shape[1], train.shape[1]))
    if true is not None:
        blocks.append(block("true_labels", names.numbers(true, n, "true", ignore), "true"))
    if corrupted is not None:
        blocks.append(block("corrupted", Labels().numbers(corrupted, n, "corrupted"), "corrupted"))
    return blocks


def _keys(measures):
    if measures is None or isinstance(measures, str):
        return measures
    return ",".join(measures)


def _flags(**values):
    flags = []
    for name, value in values.items():
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            flags.append("--%s=%s" % (name.replace("_", "-"), one))
    return flags


def _too_large(train):
    """Whether the features on a device, which would have to be copied, are too large for this machine's memory and disk."""
    free = available_memory()
    return is_tensor(train.value) and train.value.device.type != "cpu" and free is not None and train.nbytes > free // 2


def _of_samples(helper, blocks, flags):
    path = file_of(blocks[0])
    with helper.lock:
        if path is None:
            _store(helper, blocks)
            return helper.ask([helper.arena.path] + flags)
        # The mapped file is read in place. Unique names distinguish the arena's arrays from those of the file.
        inside = [_renamed(x) for x in blocks[1:]]
        _store(helper, inside)
        arena = helper.arena.path
        named = {"labels_of_y": ["--labels", arena, "--labels-key", "labels_of_y"], "weight": ["--weights", arena], "bias": ["--bias", arena],
                 "test_features": ["--test-features", arena], "test_labels": ["--test-labels", arena], "ood": ["--ood", arena],
                 "true_labels": ["--true-labels", arena], "corrupted": ["--corrupted", arena]}
        return helper.ask(["--features", path] + [flag for x in inside for flag in named[x.name]] + flags)


def _renamed(b):
    if b.name == "labels":
        b.name = "labels_of_y"
    return b


def _store(helper, blocks):
    why = helper.arena.store(blocks)
    if why:
        say_once("disk", "arrays are handed over in the temporary folder %r: %s" % (tempfile.gettempdir(), why))


def _of_states(helper, blocks, flags, drop_nonfinite):
    try:
        import torch

        from .states import CHUNK, StateWriter
    except ImportError:
        raise ImportError("collapse: keep='states' needs torch, which is not installed; pass features that fit into memory or a float32 np.memmap "
                          "of a .npy file, which is read where it lies") from None
    train, y = blocks[0], blocks[1].value
    H = train.value if is_tensor(train.value) else torch.from_numpy(train.value)
    folder = tempfile.mkdtemp(prefix="collapse-")
    try:
        writer = StateWriter(os.path.join(folder, "states"), drop_nonfinite)
        step = max(1, CHUNK // train.shape[1])
        for start in range(0, len(y), step):
            part = H[start:start + step]
            writer.append({"features": part if part.dtype == torch.float64 else part.float(), "labels": y[start:start + step]})
        complaint = writer.complaint()
        if complaint:
            raise ValueError("collapse: " + complaint)
        writer.close()
        with helper.lock:
            rest = blocks[2:]
            if rest:
                _store(helper, rest)
            named = {"weight": "--weights", "bias": "--bias"}
            return helper.ask(["--merge", os.path.join(folder, "states", "features.ncs")] + [x for b in rest for x in (named[b.name], helper.arena.path)] + flags)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# Flags in messages of the program, and the arguments of measure() that replace them.
_ARGUMENTS = {"--drop-nonfinite": "drop_nonfinite=True", "--measures": "measures=", "--class-names": "classes=", "--classes": "classes=", "--min-count": "min_count=",
              "--imbalance": "imbalance=", "--null": "null=", "--rcond": "rcond=", "--ignore-label": "ignore_index=", "--threads": "threads="}


def _result(answer, helper, names):
    path = helper.arena.path  # None if states were handed over, and nothing else
    plain = lambda text: text.replace(path, "the arrays") if path else text
    if answer["exit"] != 0:
        said = re.sub(r"(?:%s)(?![\w-])" % "|".join(map(re.escape, _ARGUMENTS)), lambda m: _ARGUMENTS[m.group()], plain(answer["said"]))
        raise MeasureError("collapse: " + re.sub("^collapse: ", "", said), answer["exit"], answer["said"])
    document = answer["document"]
    for of in document.get("inputs", []):
        of["files"] = ["memory" if f == path else f for f in of["files"]]
    document["notes"] = [plain(note) for note in document.get("notes", [])]
    document["notes"] += ["ignore_index %s: no sample has this label" % word for word in names.unseen]
    if names.names is not None:
        _name_classes(document, names.names)
    return Result(document)


def _name_classes(document, names):
    def named(label):
        return names[int(label)] if label.lstrip("-").isdigit() and 0 <= int(label) < len(names) else label
    document["labels"] = [named(label) for label in document.get("labels") or map(str, range(document["k"]))]
    for left in document.get("left_out", []):
        left["classes"] = [named(str(label)) for label in left.get("classes", [])]
