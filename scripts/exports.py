"""Whether others read what the program exports: every value of a small lab, by each reader, against the program's own CSV.

usage: exports.py COLLAPSE

Tables are read by pandas, Polars and DuckDB, event files by TensorBoard's own reader, and a History that logs to MLflow (files) and W&B (offline) by
theirs. Needs what scripts/peers_env.sh installs.
"""

import collections
import csv
import glob
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true", MLFLOW_ALLOW_FILE_STORE="true", GIT_PYTHON_REFRESH="quiet")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

SCRIPT = """
import random
import collapse
with collapse.run() as run:
    random.seed(run.setting("seed", 0))
    for epoch in run.epochs(4):
        run.report(epoch, {"val/f1": random.random(), "test/loss": None if epoch == 2 else random.gauss(0, 1e9), "depth": run.setting("depth", 1)})
"""
STUDY = """
[study]
name = "scripts"
seeds = 2
[trainer]
command = ["%s", "train.py"]
epochs = 4
[grid]
depth = [1, 3]
method = ["a, b", '"c"']
"""
TRAINED = """
[study]
name = "trained"
seeds = 2
[base]
data = { name = "glyphs", classes = 3, samples_per_class = 20, test_samples_per_class = 5 }
net = { depth = 2, width = 8 }
run = { epochs = 3, taps = "stages" }
[grid]
"optim.lr" = [0.01, 0.1]
"""


def lab_of_two_studies(program):
    for name, text in (("train.py", SCRIPT), ("scripts.toml", STUDY % sys.executable), ("trained.toml", TRAINED)):
        with open(name, "w") as f:
            f.write(text)
    for name in ("scripts", "trained"):
        subprocess.run([program, "-q", "--lab", "lab", "study", "run", name + ".toml"], check=True)


def key(row):
    return tuple(str(row[c] if row[c] == row[c] and row[c] is not None else "") for c in ("run", "series", "step", "split", "layer", "measure"))


def number(x):
    return None if x is None or x == "" or x != x else float(x)


def same(what, got, wanted, close=0.0):
    assert set(got) == set(wanted), (what, list(set(got) ^ set(wanted))[:3])
    for k, x in wanted.items():
        assert got[k] == x or x is not None and got[k] is not None and abs(got[k] - x) <= close * abs(x), (what, k, got[k], x)
    print("%s: %d values, %d of them missing, are as the program's" % (what, len(got), sum(x is None for x in got.values())))


def tables(program, name):
    import duckdb
    import pandas
    import polars
    for kind in ("csv", "parquet"):
        subprocess.run([program, "-q", "--lab", "lab", "study", "export", name, "--" + kind, "--out", name + "." + kind], check=True)
    with open(name + ".csv", newline="") as f:
        wanted = {key(row): number(row["value"]) for row in csv.DictReader(f)}
    texts = {"split": str, "layer": str}
    readers = {
        "pandas, CSV": lambda: pandas.read_csv(name + ".csv", dtype=texts).to_dict("records"),
        "pandas, Parquet": lambda: pandas.read_parquet(name + ".parquet").to_dict("records"),
        "Polars, CSV": lambda: polars.read_csv(name + ".csv", infer_schema_length=None).to_dicts(),
        "Polars, Parquet": lambda: polars.read_parquet(name + ".parquet").to_dicts(),
        "DuckDB, CSV": lambda: rows_of(duckdb.sql("select * from read_csv('%s.csv', header = true)" % name)),
        "DuckDB, Parquet": lambda: rows_of(duckdb.sql("select * from '%s.parquet'" % name)),
    }
    for reader, read in readers.items():
        same("%s, %s" % (name, reader), {key(row): number(row["value"]) for row in read()}, wanted)
    return wanted


def rows_of(table):
    return [dict(zip(table.columns, row)) for row in table.fetchall()]


def tensorboard(program, name, wanted):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    folder = name + "-events"
    subprocess.run([program, "-q", "--lab", "lab", "study", "export", name, "--tensorboard", folder], check=True)
    got = {}
    for run in os.listdir(folder):
        events = EventAccumulator(os.path.join(folder, run), size_guidance={"scalars": 0})
        events.Reload()
        for tag in events.Tags()["scalars"]:
            for e in events.Scalars(tag):
                got[run.rsplit("-", 1)[1], tag, e.step] = e.value
    tags = {}
    for (run, series, step, split, layer, measure), x in wanted.items():
        tag = split + ("@" + layer if layer else "")
        tag = (tag + "/" if tag else "") + measure
        if x is not None:
            tags[run[:12], tag if series == "epoch" else series + "/" + tag, int(step)] = x
    same(name + ", TensorBoard", got, tags, close=2 ** -23)  # it has single precision


def histories():
    import mlflow
    import wandb

    import collapse
    mlflow.set_tracking_uri("file://" + os.path.abspath("mlruns"))
    history = collapse.History()
    run = wandb.init(project="exports", dir=".")
    wanted = collections.defaultdict(dict)
    random.seed(1)
    with mlflow.start_run() as active:
        history.log_to("mlflow")
        history.log_to(run)
        for epoch in range(1, 6):
            history.add(epoch, collapse.measure([[random.gauss(c, 0.1), random.gauss(-c, 0.1)] for c in range(3) for _ in range(9)], [c for c in range(3) for _ in range(9)]),
                        loss=1 / epoch)
    run.finish()
    wanted = {(name, epoch): x for epoch, numbers in history.epochs for name, x in numbers.items() if math.isfinite(x)}
    client = mlflow.MlflowClient()
    names = client.get_run(active.info.run_id).data.metrics
    same("a History, MLflow", {(n, m.step): m.value for n in names for m in client.get_metric_history(active.info.run_id, n)}, wanted)
    same("a History, W&B", wandb_values(), wanted)


def wandb_values():
    """The values of the offline run: blocks of 32 KiB of records (checksum, length, whole or part), each a message of W&B's."""
    import json

    from wandb.proto import wandb_internal_pb2
    with open(glob.glob("wandb/offline-run-*/run-*.wandb")[0], "rb") as f:
        data = f.read()
    values, at, record = {}, 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:  # the rest of a block is padding
            at += 32768 - at % 32768
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        record += data[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            message = wandb_internal_pb2.Record()
            message.ParseFromString(record)
            record = b""
            items = {"/".join(i.nested_key) or i.key: json.loads(i.value_json) for i in message.history.item}
            values.update({(name, items["epoch"]): x for name, x in items.items() if name != "epoch" and not name.startswith("_")})
    return values


def main(program):
    program = os.path.abspath(program)
    os.environ["COLLAPSE_BINARY"] = program
    os.environ["PYTHONPATH"] = os.path.abspath(sys.path[0])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        lab_of_two_studies(program)
        for name in ("scripts", "trained"):
            tensorboard(program, name, tables(program, name))
        histories()
        os.chdir("/")


if __name__ == "__main__":
    main(sys.argv[1])
