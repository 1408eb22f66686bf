"""The program that a wheel contains next to these files, and the console script `collapse`, which is replaced by it."""

import os
import subprocess
import sys


def bundled():
    """The path of the program in this package's folder bin, where a wheel puts it; None if it is not there, as in a checkout."""
    name = "collapse.exe" if os.name == "nt" else "collapse"
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    return path if os.path.isfile(path) else None


def main():
    """Runs the program with this process's arguments, in its place."""
    path = bundled()
    if path is None:
        sys.exit("collapse: this copy of the Python package holds no program, as in a checkout: build it (go build ./cmd/collapse), "
                 "or install the package (pip install ./python)")
    try:
        if os.name == "nt":
            sys.exit(_wait([path] + sys.argv[1:]))
        os.execv(path, [path] + sys.argv[1:])
    except OSError as e:
        sys.exit("collapse: %s cannot be run: %s; install the package again" % (path, e.strerror))


def _wait(command):
    """Runs a command on Windows, where a process cannot be replaced by another program. Returns its exit status."""
    process = subprocess.Popen(command)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass  # Ctrl-C has reached the program, too, which decides how it ends
