#!/usr/bin/env bash
# Runs every fuzz target of the repository, one after the other: scripts/fuzz.sh [TIME] [PACKAGE…]
#
# TIME is that of each target (30s). Without a bound on minimisation Go spends up to a minute on making each new input smaller, and
# a target that reads whole files then runs a few inputs in minutes; -parallel=1 keeps memory to one worker.
set -euo pipefail
cd "$(dirname "$0")/.."
# Targets that write files or a lab would wait for the disk most of the time: what tests write lies in memory, what Go builds does not.
if [ -w /dev/shm ]; then
	export GOTMPDIR=${GOTMPDIR:-${TMPDIR:-/tmp}} TMPDIR=/dev/shm
fi
time=${1:-30s}
shift || true
packages=("$@")
if [ ${#packages[@]} -eq 0 ]; then
	mapfile -t packages < <(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u)
fi
for package in "${packages[@]}"; do
	for target in $(grep -h -o '^func Fuzz[A-Za-z0-9]*' "$package"/*_test.go | cut -d' ' -f2); do
		echo "$package $target"
		go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x -parallel 1
	done
done
