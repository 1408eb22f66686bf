#!/usr/bin/env bash
# Runs fuzz targets one after the other, all of the repository's or some: scripts/fuzz.sh [TIME] [PACKAGE[.TARGET]…]
#
#     scripts/fuzz.sh 30s ./arrayfile ./internal/script.FuzzEvent
#
# TIME is that of each target (30s). Inputs that reached something new are kept in Go's cache, where the next call begins; go clean -fuzzcache
# forgets them. FUZZ_PARALLEL is the number of workers (1).
set -euo pipefail
cd "$(dirname "$0")/.."
module=$(go list -m)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
memory=${TMPDIR:-/tmp}
if [ -w /dev/shm ]; then memory=/dev/shm; fi
time=${1:-30s}
shift || true
asked=("$@")
if [ ${#asked[@]} -eq 0 ]; then
	mapfile -t asked < <(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u)
fi
for one in "${asked[@]}"; do
	package=${one%.Fuzz*}
	targets=${one#"$package"}
	# go test -fuzz counts branches in every package of a program, and after each input goes through all counters: hundreds of thousands in a
	# program with SQLite and NATS. Counted here alone, inputs run up to fifty times as fast, and what is new is new in this repository.
	go test -c -o "$built/test" -gcflags="$module/...=-d=libfuzzer" "$package"
	for target in ${targets#.} $([ -n "$targets" ] || grep -h -o '^func Fuzz[A-Za-z0-9]*' "$package"/*_test.go | cut -d' ' -f2); do
		echo "$package $target"
		# Without a bound on minimisation Go spends up to a minute on making each new input smaller, and a target that reads whole files then runs
		# a few inputs in minutes. A worker that asks for more than 3 GB of addresses dies, and its input is a finding.
		# One processor a worker and rare collections: of inputs this small, collecting the garbage took half the time. And what tests write lies in
		# memory (T.TempDir asks GOTMPDIR): targets that write files or a lab would wait for the disk most of the time.
		(
			cd "$package"
			ulimit -v 3000000
			GOMAXPROCS=1 GOGC=400 TMPDIR="$memory" GOTMPDIR="$memory" "$built/test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" \
				-test.fuzzminimizetime 10x -test.parallel "${FUZZ_PARALLEL:-1}" -test.fuzzcachedir "$(go env GOCACHE)/fuzz/$module/${package#./}"
		)
	done
done
