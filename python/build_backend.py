"""Makes the wheel of this folder for the machine that it runs on, whenever pip asks (PEP 517). It needs Python's own library alone, and no network.

The wheel holds the program, which internal/release of the checkout compiles and packs: `go run ./internal/release`. COLLAPSE_BINARY
names a program that is built already: it packs itself, and no Go is needed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
NAME_A_BINARY = "or name a program that is built already (go build ./cmd/collapse, with CGO_ENABLED=0) by its path in COLLAPSE_BINARY"


class UnsupportedOperation(Exception):
    """What a frontend asks and this backend does not do."""


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("collapse-lab has no sdist: this folder alone lacks the program, which is written in Go. "
                               "Build a wheel in a checkout: pip wheel --no-deps ./python, or go run ./internal/release")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into wheel_directory and returns its name. What goes wrong ends the process with one message."""
    with tempfile.TemporaryDirectory() as folder:
        binary = os.environ.get("COLLAPSE_BINARY")
        if binary:
            _run([_program(binary), "wheel", "--sources", HERE, "--out", folder], HERE,
                 "COLLAPSE_BINARY, %s, made no wheel; is it a program of this checkout?" % binary)
        else:
            _run([_go(), "run", "./internal/release", "-platforms", "host", "-make", "wheels", "-out", folder], ROOT,
                 "the program could not be built; see above, " + NAME_A_BINARY)
        names = [name for name in os.listdir(folder) if name.endswith(".whl")]
        if len(names) != 1:
            sys.exit("collapse: there should be one wheel, and there are %d" % len(names))
        shutil.move(os.path.join(folder, names[0]), os.path.join(wheel_directory, names[0]))
        return names[0]


def _run(command, folder, failure):
    """Runs a command. What it prints goes to standard error: frontends show that."""
    try:
        code = subprocess.call(command, cwd=folder, stdout=sys.stderr)
    except OSError as e:
        sys.exit("collapse: %s cannot be run: %s" % (command[0], e.strerror))
    if code != 0:
        sys.exit("collapse: " + failure)


def _program(binary):
    path = os.path.abspath(binary)
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        sys.exit("collapse: COLLAPSE_BINARY is %r, which is not a program that can be run" % binary)
    return path


def _go():
    """The path of a Go that can build the program."""
    try:
        with open(os.path.join(ROOT, "go.mod")) as f:
            wanted = re.search(r"^go (\S+)", f.read(), re.MULTILINE).group(1)
    except FileNotFoundError:
        sys.exit("collapse: there is no %s: this folder was copied out of its checkout, as pip before 21.3 does. Upgrade pip"
                 % os.path.join(ROOT, "go.mod"))
    advice = "install Go %s or later (https://go.dev/dl), %s" % (wanted, NAME_A_BINARY)
    go = shutil.which("go")
    if go is None:
        sys.exit("collapse: the program is built with Go %s or later, and there is no `go` on PATH: %s" % (wanted, advice))
    # In the checkout, so that a Go that can fetch a newer one has done so.
    asked = subprocess.run([go, "env", "GOVERSION"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    found = asked.stdout.strip()
    if asked.returncode != 0 or _numbers(found) < _numbers(wanted):
        sys.exit("collapse: the program is built with Go %s or later, and %s is %s: %s" % (wanted, go, found or asked.stderr.strip(), advice))
    return go


def _numbers(version):
    """(1, 26, 0) of "go1.26.0"; what is not a version comes last."""
    return tuple(int(n) for n in re.findall(r"\d+", version)[:3]) or (sys.maxsize,)
