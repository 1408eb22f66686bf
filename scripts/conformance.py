#!/usr/bin/env python3
"""Writes one set of features with whatever libraries are installed here, has each file measured, and compares with the arrays themselves.
Then has every column of larger tables compared with what a second library reads (conformance_files.py, TestConformance of arrayfile).

    COLLAPSE_BINARY=… [COLLAPSE_CONFORMANCE=COLLECTIONS] scripts/conformance.py

Needs numpy and Go; a library that is missing is named. A line for each file; exits with 1 if one is refused or differs.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

N, D, K = 600, 24, 5


def arrays(dtype):
    r = np.random.default_rng(7)
    y = np.arange(N) % K
    h = r.normal(size=(K, D))[y] + 0.2 * r.normal(size=(N, D))
    return h.astype(dtype), y, r.normal(size=(K, D)).astype(dtype), r.normal(size=K).astype(dtype)


def npz(path, h, y, w, b):
    np.savez(path, features=h, labels=y, weight=w, bias=b)


def npz_compressed(path, h, y, w, b):
    np.savez_compressed(path, features=np.asfortranarray(h), labels=y.astype(np.int8), weight=w, bias=b)


def safetensors(path, h, y, w, b):
    import safetensors.numpy
    safetensors.numpy.save_file({"features": h, "labels": y, "weight": w, "bias": b}, path)


def torch_dict(path, h, y, w, b):
    import torch
    torch.save({"features": torch.from_numpy(h), "labels": torch.from_numpy(y), "fc": {"weight": torch.from_numpy(w), "bias": torch.from_numpy(b)}}, path)


def torch_old(path, h, y, w, b):
    import torch
    torch.save({"features": torch.from_numpy(h), "labels": torch.from_numpy(y), "weight": torch.from_numpy(w), "bias": torch.from_numpy(b)}, path, _use_new_zipfile_serialization=False)


def torch_state(path, h, y, w, b):
    """A module's own state dict beside features that are a view of a larger tensor."""
    import torch
    layer = torch.nn.Linear(D, K)
    layer.weight.data, layer.bias.data = torch.from_numpy(w), torch.from_numpy(b)
    wide = torch.cat([torch.from_numpy(h), torch.zeros(N, 3, dtype=torch.from_numpy(h).dtype)], 1)
    torch.save({"features": wide[:, :D], "labels": torch.from_numpy(y), "fc.weight": layer.state_dict()["weight"], "fc.bias": layer.state_dict()["bias"]}, path)


def parquet_lists(path, h, y, w, b):
    import pyarrow, pyarrow.parquet
    pyarrow.parquet.write_table(pyarrow.table({"features": list(h), "labels": y}), path)


def parquet_pandas(path, h, y, w, b):
    import pandas
    pandas.DataFrame({"features": list(h), "labels": y}).to_parquet(path, compression="zstd")


# name: (suffix, writer, its library, whether the classifier is in the file)
WRITERS = {
    "numpy.savez": (".npz", npz, "numpy", True),
    "numpy.savez_compressed, Fortran order, int8 labels": (".npz", npz_compressed, "numpy", True),
    "safetensors.numpy.save_file": (".safetensors", safetensors, "safetensors", True),
    "torch.save, nested": (".pt", torch_dict, "torch", True),
    "torch.save, old format": (".pt", torch_old, "torch", True),
    "torch.save, a view and a state dict": (".pt", torch_state, "torch", True),
    "pyarrow.parquet, lists": (".parquet", parquet_lists, "pyarrow", False),
    "pandas.to_parquet, zstd": (".parquet", parquet_pandas, "pandas", False),
}

def measured(*arguments):
    out = subprocess.run([os.environ["COLLAPSE_BINARY"], "measure", "--json", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if out.returncode:
        raise ValueError(out.stderr.decode().strip())
    return json.loads(out.stdout)["measures"]


def compare(got, want):
    differ = sorted(k for k in want.keys() | got.keys() if got.get(k) != want.get(k))
    return not differ, "differs in %s" % differ if differ else "the same %d measures" % len(got)


def tables():
    """Whether all columns of all tables are as a second reader finds them."""
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(here, "conformance_files.py"), folder], check=True)
        old = os.environ.get("COLLAPSE_OLD_PYTHON", "/usr/bin/python3")  # Debian's PyTorch 1.13
        if subprocess.run([old, "-W", "ignore", os.path.join(here, "conformance_files.py"), folder, "torch_files"]).returncode:
            print("nothing written by the PyTorch of %s" % old)
        test = ["go", "test", "-count=1", "-run", "^TestConformance$", "-v", "./arrayfile"]
        return subprocess.run(test, cwd=os.path.dirname(here), env=dict(os.environ, COLLAPSE_CONFORMANCE=folder)).returncode == 0


def main():
    failed = not tables()
    with tempfile.TemporaryDirectory() as folder:
        for dtype in ("float16", "float32", "float64"):
            data, want = arrays(dtype), {}
            for name, array in zip(("h", "y", "w", "b"), data):
                np.save(os.path.join(folder, name + ".npy"), array)
            at = {name: os.path.join(folder, name + ".npy") for name in "hywb"}
            want[True] = measured("--features", at["h"], "--labels", at["y"], "--weights", at["w"], "--bias", at["b"])
            want[False] = measured("--features", at["h"], "--labels", at["y"])
            if not (len(want[True]) > len(want[False]) > 20 and want[False]["nc1_pinv"] > 0):
                raise SystemExit("the arrays themselves were not measured: %s" % want)
            for name, (suffix, write, library, classifier) in WRITERS.items():
                path = os.path.join(folder, "written" + suffix)
                try:
                    write(path, *data)
                    ok, line = compare(measured(path), want[classifier])
                except ImportError:
                    ok, line = True, "not written: no %s here" % library
                except Exception as e:
                    ok, line = False, "refused: %s" % e
                failed += not ok
                print("%s%s, %s: %s" % ("" if ok else "FAILED: ", name, dtype, line), flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
