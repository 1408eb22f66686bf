#!/usr/bin/env bash
# What fuzz targets reach with all inputs that are kept, those in the repository and those that scripts/fuzz.sh keeps in Go's cache:
# scripts/fuzz_coverage.sh [PACKAGE[.TARGET]…]
#
# A line a target: kept inputs, and statements of its package that they reach. Below it the functions that are reached in part, where a seed may be
# missing. FUZZ_PROFILE=FILE keeps the last target's profile.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
asked=("$@")
if [ ${#asked[@]} -eq 0 ]; then
	mapfile -t asked < <(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u)
fi
# go test reads kept inputs from testdata only: a copy of the sources holds them there.
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$work"
module=$(go list -m)
cache=$(go env GOCACHE)/fuzz/$module
cd "$work"
for one in "${asked[@]}"; do
	package=${one%.Fuzz*}
	targets=${one#"$package"}
	for target in ${targets#.} $([ -n "$targets" ] || grep -h -o '^func Fuzz[A-Za-z0-9]*' "$package"/*_test.go | cut -d' ' -f2); do
		kept=$package/testdata/fuzz/$target
		mkdir -p "$kept"
		[ ! -d "$cache/${package#./}/$target" ] || find "$cache/${package#./}/$target" -type f -exec cp -t "$kept" {} +
		if ! go test -run "^$target\$" -coverprofile=profile "$package" > log 2>&1; then
			cat log
			exit 1
		fi
		[ -z "${FUZZ_PROFILE:-}" ] || cp profile "$FUZZ_PROFILE"
		go tool cover -func=profile > functions
		echo "$package.$target: $(find "$kept" -type f | wc -l) inputs, $(awk 'END { print $NF }' functions) of the package"
		awk -v module="$module/" '$NF != "0.0%" && $NF != "100.0%" && $1 != "total:" { sub("^" module, "", $1); print "    " $1, $2, $3 }' functions
	done
done
