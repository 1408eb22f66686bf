"""The folder of a capture: a new or empty one, or one that replaces an older capture once it is complete."""

import json
import os
import re
import shutil
import urllib.parse

INFO_FILE = "tap.json"
FEATURES, LABELS, TRUE_LABELS, CORRUPTED, LAYERS = "features", "labels", "true_labels", "corrupted", "layers"
STATE = ".ncs"  # of a stream that a capture keeps as a state instead of rows

_FILES = {INFO_FILE, "weight.npy", "bias.npy", FEATURES + STATE}
_MOST_INFO = 16 << 20  # bytes of a tap.json that are read
_STREAMS = {FEATURES, LABELS, TRUE_LABELS, CORRUPTED}


def layer_stream(name):
    """Where a layer's output is kept. Layer names may contain characters that file names cannot."""
    return "layers/" + (urllib.parse.quote(name, safe="") or "model")


class CaptureFolder:
    """The folder that a capture is written to (`path`), and how it gets its final name.

    With overwrite, an older capture in `final` stays intact until the new one is complete: the new one is written next to it, under
    a name that ends in .overwriting, and replaces it in commit(). Only files that a Tap has written are ever removed.
    """

    def __init__(self, folder, overwrite):
        # Follow symbolic links: their target is replaced, not the links.
        self.final = os.path.realpath(os.fspath(folder))
        self.shown = os.fspath(folder)
        self.path = self.shown
        if not (os.path.isdir(self.final) and os.listdir(self.final)):
            return
        if not overwrite:
            raise FileExistsError("collapse: the folder %r is not empty; every capture needs a folder of its own, for example %r; "
                                  "an older capture is replaced with Tap(model, folder, overwrite=True)"
                                  % (self.shown, os.path.join(self.shown, "epoch-001")))
        refuse_foreign(self.final)
        if not _is_capture(self.final):
            raise FileExistsError("collapse: overwrite=True replaces captures only, and %r has no %s that says it is one (a capture whose "
                                  "process was killed has none); use another folder, or remove it yourself" % (self.shown, INFO_FILE))
        self.path = self.final + ".overwriting"
        if os.path.isdir(self.path):  # left by a killed process
            refuse_foreign(self.path)
            shutil.rmtree(self.path)
        os.mkdir(self.path, 0o700)
        shutil.copymode(self.final, self.path)  # users who could not read the old capture cannot read the new one

    @property
    def replaces(self):
        return self.path != self.shown

    def commit(self):
        """Moves a complete capture to its final place."""
        if self.replaces:
            old = self.final + ".overwritten"
            if os.path.isdir(old):  # left by a process that was killed between the two renames
                refuse_foreign(old)
                shutil.rmtree(old)
            os.rename(self.final, old)
            os.rename(self.path, self.final)
            shutil.rmtree(old)

    def clear(self):
        """Removes the files of a capture without samples, so that the folder can be used again."""
        if not os.path.isdir(self.path):
            return
        refuse_foreign(self.path)
        if self.replaces:
            shutil.rmtree(self.path)
            return
        for name in os.listdir(self.path):
            inside = os.path.join(self.path, name)
            shutil.rmtree(inside) if os.path.isdir(inside) else os.remove(inside)


def _is_capture(folder):
    try:
        with open(os.path.join(folder, INFO_FILE), "rb") as f:
            info = json.loads(f.read(_MOST_INFO))
    except (OSError, ValueError):
        return False
    return isinstance(info, dict) and str(info.get("format")).startswith("collapse_tap ")


def refuse_foreign(folder):
    """Raises FileExistsError if the folder contains anything that a Tap does not write."""
    foreign = sorted(path for name in os.listdir(folder) for path in _foreign(folder, name))
    if foreign:
        raise FileExistsError("collapse: overwrite=True replaces captures only, and %r is not part of one; use another folder, or "
                              "remove it yourself" % foreign[0])


def _foreign(folder, name):
    """Files in one entry of a capture's folder that are not a Tap's."""
    path = os.path.join(folder, name)
    if name in _STREAMS:
        return _foreign_in(path)
    if name == LAYERS and _is_folder(path):
        return [f for layer in os.listdir(path) for f in _foreign_layer(os.path.join(path, layer))]
    return [] if _whole(name) in _FILES and _is_file(path) else [path]


def _foreign_layer(path):
    """Files among the shards, or the state, of a layer that are not a Tap's."""
    return [] if _whole(path).endswith(STATE) and _is_file(path) else _foreign_in(path)


def _whole(name):
    """The name that a file has once it is complete."""
    return name[:-len(".part")] if name.endswith(".part") else name


def _foreign_in(stream):
    if not _is_folder(stream):
        return [stream]
    return [f for f in (os.path.join(stream, name) for name in os.listdir(stream))
            if not (re.fullmatch(r"[0-9]{5,}\.npy(\.part)?", os.path.basename(f)) and _is_file(f))]


def _is_folder(path):
    return os.path.isdir(path) and not os.path.islink(path)


def _is_file(path):
    return os.path.isfile(path) and not os.path.islink(path)
