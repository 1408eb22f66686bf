#!/usr/bin/python3
"""The reference library's documented example (its README: ten classes, embeddings of 512) beside ours, on the same features.

usage: documented.py [--library DIR] [--binary PATH] [--per-class 1000] [--json]

With DIR, a checkout of github.com/rhubarbwu/neural-collapse, its own functions are called, and the lines of its example are counted in its
README. Without, its column is its formulas in float64, as conventions.py writes them. Needs torch. Exits with 1 if numbers differ that should not.
"""

import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "python")]

import numpy as np
import torch

import arrays
import conventions

import collapse

K, D = 10, 512

# What is run here, counted, and printed in docs/internal/reference-library.md.
OURS = """\
import collapse
for name, loader in (("train", train_loader), ("test", test_loader), ("ood", ood_loader)):
    with torch.no_grad(), collapse.Tap(model, name) as tap:
        for images, labels in loader:
            model(images.to(device))
            tap.labels(labels)
result = collapse.measure("train", test="test", ood="ood")
"""

# The library's name, ours, our number from the result, and its definition from Stats of the train set and of the test set.
ROWS = [
    ("nc1_pinv", "`nc1_pinv`", lambda r: r.nc1_pinv, lambda s, t: s.nc1(s.lib_mean)),
    ("nc1_svd", "`nc1_pinv`", lambda r: r.nc1_pinv, lambda s, t: s.nc1(s.lib_mean)),
    ("nc1_quot", "`nc1_trace_ratio`", lambda r: r.nc1_trace_ratio, lambda s, t: s.quotient(s.lib_mean)),
    ("nc1_cdnv", "`cdnv`", lambda r: r.cdnv, lambda s, t: s.cdnv()),
    ("nc2_etf_err", "`nc2_means_etf_centred`", lambda r: r.nc2_means_etf_centred, lambda s, t: s.structure(None, s.lib_mean)),
    ("nc2g_dist", "`gnc2_distance`", lambda r: r.gnc2_distance, lambda s, t: s.pair_variance(s.lib_mean, lambda x: x)),
    ("nc2g_log", "`gnc2_log`", lambda r: r.gnc2_log, lambda s, t: s.pair_variance(s.lib_mean, lambda x: -np.log(x))),
    ("nc3_dual_err", "`nc3_gram`", lambda r: r.nc3_gram, lambda s, t: s.structure(s.w, s.lib_mean)),
    ("nc3u_uni_dual", "variance of `per_class.nc3_product`, divisor K−1", lambda r: np.var(r.per_class["nc3_product"], ddof=1),
     lambda s, t: s.dots(s.lib_mean).var(ddof=1)),
    ("nc4_agree", "1 − `test_nc4_ncc_mismatch`", lambda r: 1 - r.test_nc4_ncc_mismatch, lambda s, t: agreement(s, t)),
    ("nc5_ood_dev", "`nc5_ood`", lambda r: r.nc5_ood, lambda s, t: s.ood(s.ood_lib_mean)),
]
SAME = 1e-3  # the library computes in float32


def agreement(s, test):
    """Share of test samples on which the classifier and the nearest mean of the train samples agree."""
    h = np.asarray(test["features"], np.float64)
    nearest = ((s.mu ** 2).sum(1) - 2 * h @ s.mu.T).argmin(1)
    return ((h @ s.w.T).argmax(1) == nearest).mean()


class Given(torch.nn.Module):
    """A network whose images are features already, with a classifier without bias, which the library's decisions leave out."""

    def __init__(self, weights):
        super().__init__()
        self.body, self.fc = torch.nn.Identity(), torch.nn.Linear(weights.shape[1], weights.shape[0], bias=False)
        self.fc.weight.data = torch.from_numpy(weights)

    def forward(self, images):
        return self.fc(self.body(images))


def ours(train, test):
    """The Result of OURS."""
    def loader(h, y):
        h, y = torch.from_numpy(np.array(h)), torch.from_numpy(y)
        return list(zip(h.split(256), y.split(256)))
    given = {"torch": torch, "collapse": collapse, "device": "cpu", "model": Given(train["weights"]), "train_loader": loader(train["features"], train["labels"]),
             "test_loader": loader(test["features"], test["labels"]), "ood_loader": loader(train["ood"], train["ood_labels"])}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            exec(OURS, given)
        finally:
            os.chdir(before)
    return given["result"]


def library(path, train, test):
    """Name → number, by the library's own functions."""
    import reference_library
    accumulate, kernels, measure = reference_library.import_library(path)
    with torch.no_grad():
        state, _ = reference_library.accumulated(accumulate, train, 256)
        decisions = accumulate.DecAccumulator(K, D, M=state["means"], W=state["w"])
        decisions.create_index(state["means"])
        decisions.accumulate(torch.from_numpy(np.array(test["features"])), torch.from_numpy(test["labels"]), state["w"], *([] if decisions.index else [state["means"]]))
        state["decisions"] = decisions
        values = {name: reference_library.attempt(call) for name, call in reference_library.measures(measure, kernels, state, None).items()}
        values["nc1_svd"] = reference_library.attempt(lambda: measure.covariance_ratio(state["covariance"], state["means"], state["mg"], "svd"))
    return values


def lines(code):
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in code.splitlines())


def lines_of_library(path):
    """Lines of code of its README's example, from the accumulators to the measures."""
    with open(os.path.join(path, "README.md"), encoding="utf-8") as f:
        text = f.read()
    example = text[text.index("### Accumulators"):text.index("#### Pre-Centring Means")]
    return sum(lines(block[3:]) for block in example.split("```")[1::2] if block.startswith("py\n"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="checkout of the reference library")
    parser.add_argument("--binary", help="the collapse program")
    parser.add_argument("--per-class", type=int, default=1000, help="train samples of each class")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    args = parser.parse_args()
    if args.binary:
        os.environ["COLLAPSE_BINARY"] = os.path.abspath(args.binary)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        arrays.make(folder, K * args.per_class, D, K, spread=8, ood=1000)
        arrays.make(other, 2000, D, K, spread=8)
        train, test = arrays.load(folder), arrays.load(other)
        stats, result = conventions.Stats({**train, "bias": np.zeros(K)}), ours(train, test)
        theirs = library(args.library, train, test) if args.library else {}
    rows, failed = [], False
    for name, key, our, definition in ROWS:
        want, got, note = float(definition(stats, test)), float(our(result)), ""
        value = theirs.get(name, want)
        if isinstance(value, str):
            note, value = value, want
        same = all(abs(got - x) <= SAME * abs(x) for x in (want, value))
        failed |= not same
        rows.append({"library": name, "value": value, "key": key, "ours": got, "same": same, "note": note})
    count = {"ours": lines(OURS), "library": lines_of_library(args.library) if args.library else None}
    if args.json:
        json.dump({"rows": rows, "lines": count}, sys.stdout)
    else:
        print("| library | | ours | |\n|---|---|---|---|")
        for row in rows:
            print("| `%s` | %.6g | %s | %.6g |%s%s" % (row["library"], row["value"], row["key"], row["ours"], "" if row["same"] else " DIFFERENT",
                                                     " by its formula: " + row["note"] if row["note"] else ""))
        print("\nlines of code: ours %d%s" % (count["ours"], ", the library's %d" % count["library"] if args.library else ""))
    sys.exit(failed)


if __name__ == "__main__":
    main()
