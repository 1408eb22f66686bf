#!/usr/bin/env python3
"""A campaign of faults (python3 alone): kills, stops, full disks, cut networks, hostile requests and
workers, strangers' labs, folders of the user's, changed files, clocks that jump, fuzzing, each trial compared with an undisturbed run. The trials are in scripts/faults.

    scripts/campaign.py FOLDER [--hours H] [--trials N] [--seed S] [--only KIND,…] [--binary COLLAPSE]
    scripts/campaign.py FOLDER --report

Needs go. Every trial appends a line to FOLDER/trials.jsonl: its kind, seed, counts, seconds, and whether all was as it must be. Called again with
the same folder it goes on with new seeds, so a campaign may be stopped at any time. Kinds are taken in turn, the one that has had least time
first; --trials N ends after N of them. A trial that fails keeps its output in FOLDER/failed-N.log; the campaign goes on, and ends with status 1.
"""
import argparse, collections, json, os, subprocess, sys, tempfile, time

from faults.clocks import clocks
from faults.common import Failed, of_script, of_seeds, of_test, run
from faults.fuzzing import fuzz
from faults.mapped import changed_files
from faults.network import cut_network, lying_workers, three_servers
from faults.runs import bits, cut_files, full_disk, stopped, twice
from faults.server import requests
from faults.surroundings import asleep, killed_group, little_memory, moved_lab, read_only, uploads

KINDS = {
    "train": of_script("scripts/kill_resume.sh", "50"),
    "studies": of_script("scripts/kill_studies.sh", "15"),
    "engines": of_script("python3", "scripts/kill_engines.py", "BINARY", "9"),
    "scripts": of_test("./internal/script", "TestKills"),
    "copies": of_script("scripts/copy_labs.sh", "20"),
    "stopped": stopped, "twice": twice, "full disk": full_disk, "cut files": cut_files, "bits": bits, "requests": requests,
    "network": cut_network, "servers": three_servers, "workers": lying_workers, "changed files": changed_files,
    "power cuts": of_seeds("./internal/powercut", "TestTrainingAfterAPowerCut", 1, *(("./internal/powercut", f"Test{what}AfterAPowerCut") for what in ("AStudy", "AWorker", "AQueue", "ALab", "Outputs"))),
    "hostile labs": of_seeds("./internal/cli", "TestRandomHostileLabs", 10),
    "output folders": of_seeds("./internal/cli", "TestRandomOutputFolders", 50),
    "strangers": of_seeds("./internal/study/coordinator", "TestStrangersDoNotEndAStudy", 1, ("./internal/cli", "TestServeStandsAFlood")),
    "big lab": of_seeds("./internal/cli", "TestBigLabs", 1),
    "little memory": little_memory, "moved lab": moved_lab, "asleep": asleep, "read-only": read_only, "killed group": killed_group, "uploads": uploads,
    "clocks": clocks, "fuzz": fuzz,
}


class Campaign:
    def __init__(self, folder, binary):
        self.folder, self.binary = os.path.abspath(folder), os.path.abspath(binary) if binary else None
        os.makedirs(self.folder, exist_ok=True)
        self.path = self.folder + "/trials.jsonl"

    def trials(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path) as f:
            return [json.loads(line) for line in f if line.endswith("\n")]

    def build(self):
        if self.binary is None:
            self.binary = self.folder + "/collapse"
            run(["go", "build", "-o", self.binary, "./cmd/collapse"], {"CGO_ENABLED": "0"})

    def one(self, kind, seed):
        began, row = time.time(), {"kind": kind, "seed": seed, "date": time.strftime("%Y-%m-%d")}
        with tempfile.TemporaryDirectory(prefix="campaign-") as work:
            try:
                row.update(ok=True, counts=KINDS[kind](self, seed, work))
            except (Failed, subprocess.SubprocessError, OSError, ValueError) as trouble:
                row.update(ok=False, counts={}, says=str(trouble)[-20000:])
                with open(f"{self.folder}/failed-{len(self.trials())}.log", "w") as f:
                    f.write(str(trouble))
        row["seconds"] = round(time.time() - began, 1)
        with open(self.path, "a") as f:
            f.write(json.dumps(row) + "\n")
        return row

    def report(self):
        """A table of what was done: trials, counts, hours, failures."""
        rows, fuzzed = collections.defaultdict(lambda: [0, collections.Counter(), 0.0, 0]), collections.Counter()
        for t in self.trials():
            row = rows[t["kind"]]
            row[0] += 1
            row[2] += t["seconds"] / 3600
            row[3] += not t["ok"]
            for what, n in t["counts"].items():
                (fuzzed if "." in what else row[1])[what] += n
        print("| kind | trials | counted | hours | failed |\n|---|---|---|---|---|")
        for kind in [k for k in KINDS if k in rows]:
            n, counts, hours, failed = rows[kind]
            print(f"| {kind} | {n} | {', '.join(f'{v:,} {k}' for k, v in sorted(counts.items())) or '–'} | {hours:.2f} | {failed} |")
        if fuzzed:
            print("\n| fuzz target | executions |\n|---|---|")
            for what, n in sorted(fuzzed.items()):
                print(f"| {what} | {n:,} |")
        return any(row[3] for row in rows.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--trials", type=int, default=sys.maxsize, help="end after so many, if not by time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--binary")
    parser.add_argument("--report", action="store_true")
    a = parser.parse_args()
    kinds, c = a.only.split(","), Campaign(a.folder, a.binary)
    unknown = [k for k in kinds if k not in KINDS]
    if unknown:
        parser.error(f"no kind {', '.join(unknown)}; wanted some of {', '.join(KINDS)}")
    if not a.report:
        c.build()
        end, made = time.time() + 3600 * a.hours, 0
        while time.time() < end and made < a.trials:
            made += 1
            spent = collections.Counter()
            for t in c.trials():
                spent[t["kind"]] += t["seconds"]
            kind = min(kinds, key=lambda k: spent[k])
            seed = a.seed * 1_000_000 + sum(t["kind"] == kind for t in c.trials())
            row = c.one(kind, seed)
            print(f"{kind} {seed}: {'ok' if row['ok'] else 'FAILED'} {row['counts']} {row['seconds']} s", flush=True)
    sys.exit(c.report())


if __name__ == "__main__":
    main()
