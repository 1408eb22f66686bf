#!/usr/bin/env bash
# Fuzzes targets until what they reach has settled: scripts/fuzz_settled.sh PACKAGE.TARGET…
#
# Each runs for at least MINUTES (30) of processor time on FUZZ_PARALLEL (2) workers, and on until a third of that has brought no input that reaches
# a statement of the package which none before it reached; three times as long at most. A crash ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seconds=$((60 * ${MINUTES:-30}))
export FUZZ_PARALLEL=${FUZZ_PARALLEL:-2}

reached() { # FILE: the blocks of statements that kept inputs reach
	FUZZ_PROFILE="$work/profile" scripts/fuzz_coverage.sh "$target" > "$work/coverage"
	awk 'NR > 1 && $NF > 0 { print $1 }' "$work/profile" | sort -u > "$1"
}

for target; do
	spent=0 executions=0 before=''
	due=$((seconds * 2 / 3))
	while :; do
		TIMEFORMAT='%U %S'
		{ time scripts/fuzz.sh 1m "$target" > "$work/log" 2>&1; } 2> "$work/time" || { cat "$work/log"; exit 1; }
		spent=$((spent + $(awk 'END { print int($1 + $2) }' "$work/time")))
		executions=$((executions + $(grep -o 'execs: [0-9]*' "$work/log" | tail -1 | cut -d' ' -f2)))
		[ "$spent" -ge "$due" ] || continue
		reached "$work/now"
		fresh=$([ -z "$before" ] && echo first || comm -13 "$work/before" "$work/now" | wc -l)
		echo "$target: $((spent / 60)) minutes of a processor, $executions executions, $(sed -n '1s/.*: \([0-9]* inputs\).*/\1/p' "$work/coverage"), $(wc -l < "$work/now") blocks, $fresh new"
		if [ "$fresh" = 0 ] || [ "$spent" -ge $((3 * seconds)) ]; then break; fi
		before=yes
		cp "$work/now" "$work/before"
		due=$((spent + seconds / 3))
	done
	[ "$fresh" = 0 ] || { echo "$target has not settled"; exit 1; }
done
