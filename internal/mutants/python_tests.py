"""Runs tests of a Python package for the command mutants.

usage: python_tests.py learn TESTS MODULE OUT      runs the tests of a module one by one, and writes to OUT, as JSON, how long each took
                                                   and to which functions it came (zz_reached.py)
       python_tests.py run TESTS NAMES             runs the tests that the file NAMES lists, in its order, until one fails

TESTS is their folder. The status is 0 if all passed.
"""

import json
import os
import sys
import time
import unittest


def each(suite):
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from each(part)
        else:
            yield part


def read(path):
    """The functions that a run came to; its file is made by the first."""
    try:
        with open(path, encoding="utf-8") as f:
            return sorted(set(f.read().split("\n")) - {""})
    except FileNotFoundError:
        return []


def run(suite):
    """Why the tests failed; "" if they passed."""
    result = unittest.TestResult()
    result.failfast = True
    suite.run(result)
    wrong = result.failures + result.errors + [(test, "passed unexpectedly") for test in result.unexpectedSuccesses]
    return "%s: %s" % (wrong[0][0].id(), wrong[0][1]) if wrong else ""


def learn(module, out):
    found = []
    os.environ["MUTANT_REACHED"] = out + ".loading"
    tests = list(each(unittest.defaultTestLoader.loadTestsFromName(module)))
    for i, test in enumerate(tests):
        name = test.id()
        os.environ["MUTANT_REACHED"] = reached = "%s.%d" % (out, i)
        begin = time.monotonic()
        why = run(unittest.TestSuite([test]))
        if why:
            sys.exit("without a change, " + why)
        found.append({"name": name, "took": time.monotonic() - begin, "reached": read(reached)})
    with open(out, "w", encoding="utf-8") as f:
        json.dump({"loading": read(out + ".loading"), "tests": found}, f)


def main():
    what, folder, name, *out = sys.argv[1:]
    sys.path.insert(0, folder)
    if what == "learn":
        learn(name, *out)
        return
    with open(name, encoding="utf-8") as f:
        names = f.read().split()
    for name in names:  # a file is loaded only when the tests before its own have passed
        why = run(unittest.defaultTestLoader.loadTestsFromName(name))
        if why:
            sys.exit(why)


if __name__ == "__main__":
    main()
