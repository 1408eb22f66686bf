#!/usr/bin/env bash
# Measures what the tests see: makes small changes to packages (conditions left out, comparisons turned, errors dropped, constants off by
# one …), runs each package's own tests on each change, and prints the changes that survive. The status is 1 if a score is below the floor
# that scripts/mutants.txt sets; changes listed there as changing nothing are not made. A package of Python is tested by the folder tests beside it.
#
# usage: scripts/mutants.sh [-n 60] [-seed S,…] [-parallel 2] [-since COMMIT] [-budget 10m] [-v] [PACKAGE…]
#        scripts/mutants.sh -refusals [PACKAGE…]
#
# The second lists the errors that packages make and to which no test of their own comes, and compares their numbers with the list's.
#
# Without packages: all that scripts/mutants.txt names, with -since those that changed since the commit. A package is named by its folder,
# internal/store.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export GOFLAGS=-trimpath CGO_ENABLED=0 COLLAPSE_LONG=${COLLAPSE_LONG-gate} # what .ci/run tests
if [ -z "${COLLAPSE_DATA:-}" ] && [ -d ../shared/data ]; then
  COLLAPSE_DATA=$(cd ../shared/data && pwd)
  export COLLAPSE_DATA
fi
# Tests write and sync thousands of files: in memory, if programs may be run there.
if [ -z "${TMPDIR:-}" ] && cp "$(command -v true)" "/dev/shm/mutants.$$" 2>/dev/null; then
  if "/dev/shm/mutants.$$"; then export TMPDIR=/dev/shm; fi
  rm -f "/dev/shm/mutants.$$"
fi
exec go run ./internal/mutants "$@"
