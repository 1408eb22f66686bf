#!/usr/bin/env python3
"""Keeps what fuzzing found: scripts/fuzz_keep.py PACKAGE.TARGET…

Of the inputs that scripts/fuzz.sh left in Go's cache, and those of the repository, the fewest and smallest that together reach every statement which
all of them reach go to PACKAGE/testdata/fuzz/TARGET. `go test` runs them, and the next fuzzing begins with them.
"""
import os
import shutil
import subprocess
import sys
import tempfile

MOST = 64 << 10  # bytes of an input; a larger one is left out, whatever it reaches


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def blocks(profile):
    """The blocks of statements that a profile says were reached."""
    with open(profile) as f:
        return {line.split()[0] for line in f if line.rsplit(" ", 1)[-1].strip() not in ("0", "") and not line.startswith("mode:")}


def reach(binary, package, target, inputs, work):
    """What each input reaches alone, beside what the seeds in the test's code reach."""
    kept, profile = os.path.join(package, "testdata", "fuzz", target), os.path.join(work, "profile")
    aside = os.path.join(work, "aside")
    if os.path.isdir(kept):
        shutil.move(kept, aside)
    os.makedirs(kept)
    found = {}
    try:
        for name, path in inputs.items():
            at = os.path.join(kept, name)
            shutil.copy(path if os.path.exists(path) else os.path.join(aside, name), at)
            if subprocess.run([binary, "-test.run", f"^{target}$/^{name}$", "-test.coverprofile", profile], cwd=package, capture_output=True).returncode == 0:
                found[name] = (os.path.getsize(at), blocks(profile))
            shutil.move(at, os.path.join(work, "inputs", name))
    finally:
        shutil.rmtree(kept)
        if os.path.isdir(aside):
            shutil.move(aside, kept)
    return found


def cover(found):
    """Names of inputs, chosen one after the other by how much each adds for its bytes."""
    left, chosen = set().union(*(reached for _, reached in found.values())), []
    while left:
        name = max(found, key=lambda n: len(found[n][1] & left) / (200 + found[n][0]))
        if not found[name][1] & left:
            break
        chosen.append(name)
        left -= found[name][1]
    return chosen


def keep(one, module, cache):
    package, target = one.rsplit(".Fuzz", 1)
    target = "Fuzz" + target
    kept, fuzzed = os.path.join(package, "testdata", "fuzz", target), os.path.join(cache, "fuzz", module, os.path.relpath(package), target)
    inputs = {name: os.path.join(folder, name) for folder in (fuzzed, kept) if os.path.isdir(folder) for name in sorted(os.listdir(folder))
              if os.path.getsize(os.path.join(folder, name)) <= MOST}
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(os.path.join(work, "inputs"))
        binary = os.path.join(work, "test")
        run("go", "test", "-c", "-cover", "-o", binary, package)
        found = reach(binary, package, target, inputs, work)
        seeds = blocks_of_seeds(binary, package, target, work, kept)
        chosen = cover({name: (size, reached - seeds) for name, (size, reached) in found.items()})
        os.makedirs(kept, exist_ok=True)
        for name in os.listdir(kept):
            os.remove(os.path.join(kept, name))
        for name in chosen:
            shutil.copy(os.path.join(work, "inputs", name), os.path.join(kept, name))
    print(f"{one}: {len(chosen)} of {len(inputs)} inputs, {sum(found[n][0] for n in chosen)} bytes, reach {len(set().union(*(r for _, r in found.values())))} blocks")


def blocks_of_seeds(binary, package, target, work, kept):
    """What the seeds in the test's code reach."""
    profile, aside = os.path.join(work, "profile"), os.path.join(work, "aside")
    if os.path.isdir(kept):
        shutil.move(kept, aside)
    try:
        subprocess.run([binary, "-test.run", f"^{target}$", "-test.coverprofile", profile], cwd=package, check=True, capture_output=True)
        return blocks(profile)
    finally:
        if os.path.isdir(aside):
            shutil.move(aside, kept)


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for one in sys.argv[1:]:
        keep(one, run("go", "list", "-m").strip(), run("go", "env", "GOCACHE").strip())
