"""Trials that fuzz."""
import os, re

from .common import HOME, must, run

FUZZ = re.compile(r"^func (Fuzz\w*)", re.M)
FUZZED = 60  # seconds of a trial


def fuzz(c, seed, work):
    """One target for a minute on every core; the seed decides which."""
    targets = []
    for path, _, names in os.walk(HOME):
        for name in names:
            if name.endswith("_test.go"):
                with open(os.path.join(path, name)) as f:
                    targets += [(os.path.relpath(path, HOME), t) for t in FUZZ.findall(f.read())]
    package, target = sorted(targets)[seed % len(targets)]
    text = run(["scripts/fuzz.sh", f"{FUZZED}s", f"./{package}.{target}"], {"FUZZ_PARALLEL": str(os.cpu_count())})
    done = re.findall(r"execs: (\d+)", text)
    must(done, text[-2000:])
    return {f"{package}.{target}": int(done[-1]), "executions": int(done[-1])}
