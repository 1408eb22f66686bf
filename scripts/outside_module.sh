#!/usr/bin/env bash
# What a program elsewhere gets from this module by `go get`, without `replace`: a proxy in a folder serves this commit as v0.0.0-check.
# It builds and runs a program that measures NC1 of an array and one that solves a model, looks at what they link and weigh, and builds
# every public package for WebAssembly. Needs the modules that this one needs in Go's cache.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

module=$(go list -m) version=v0.0.0-check
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
fail() { echo "outside_module.sh: $*" >&2; exit 1; }

# A proxy is a folder of files: https://go.dev/ref/mod#goproxy-protocol.
at=$work/proxy/$module/@v
mkdir -p "$at"
echo "$version" > "$at/list"
printf '{"Version":"%s"}\n' "$version" > "$at/$version.info"
git show HEAD:go.mod > "$at/$version.mod"
nested=$(git ls-files "*/go.mod") # modules of their own, which a proxy leaves out
git archive --format=zip --prefix="$module@$version/" -o "$at/$version.zip" HEAD -- . ${nested:+$(sed "s,^\(.*\)/go.mod$,:(exclude)\1," <<< "$nested")}

cached=$(go env GOMODCACHE)/cache/download
export GOPROXY="file://$work/proxy,file://$cached" GOSUMDB=off GOFLAGS='-mod=mod -trimpath' GOMODCACHE="$work/mod" CGO_ENABLED=0 GOWORK=off

program() { # NAME: makes a module in a folder of that name around main.go, which is read
  mkdir -p "$work/$1"
  cat > "$work/$1/main.go"
  (cd "$work/$1" && go mod init example.org/"$1" && go get "$module@$version") > "$work/log" 2>&1 || { cat "$work/log" >&2; fail "go get fails"; }
  (cd "$work/$1" && go build -ldflags='-s -w' -o program . && ./program > out)
}

linked() { (cd "$work/$1" && go list -deps .); }

most() { # FILE BYTES: fails if it is larger
  local size
  size=$(stat -c %s "$1")
  echo "$3: $size bytes, at most $2"
  [ "$size" -le "$2" ] || fail "$3 is larger than $2 bytes"
}

program nc1 <<GO
package main

import (
	"fmt"

	"$module/measure"
)

func main() {
	features := []float32{1, .1, 1, -.1, -.5, .9, -.5, .8, -.5, -.9, -.5, -.8}
	report, err := measure.Measure(measure.Input[float32]{Train: measure.Memory(features, 2, []int32{0, 0, 1, 1, 2, 2})}, measure.Options{})
	if err != nil {
		panic(err)
	}
	v, ok := report.Value("nc1_trace_ratio")
	fmt.Printf("%.4f %v\n", v, ok)
}
GO
[ "$(cat "$work/nc1/out")" = "0.0051 true" ] || fail "NC1 of an array is $(cat "$work/nc1/out"), wanted 0.0051 true"
# The aim is 3,500,000. A program that prints a number has 1,590,000. SHA-256 (of state files and second passes) adds 156,000; measuring features in
# float32 and in float64, of which uncertainties need both, some 320,000.
most "$work/nc1/program" 4050000 "NC1 of an array"

program solve <<GO
package main

import (
	"fmt"

	"$module/ufm"
)

func main() {
	exact, err := ufm.Config{Model: ufm.CE, K: 10, N: 100, D: 20, LW: .001, LH: .001, LB: ufm.NoBias}.Exact()
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.8f\n", exact.Objective)
}
GO
[ "$(cat "$work/solve/out")" = "0.50028804" ] || fail "the optimum is $(cat "$work/solve/out"), wanted 0.50028804"
for name in nc1 solve; do
  if linked "$name" | grep -E 'parquet|protobuf|^net/http$|internal/kernel/conv$'; then fail "$name links the above"; fi
done

(cd "$work/solve" && GOOS=js GOARCH=wasm go build -ldflags='-s -w' -o solve.wasm . && gzip -9 solve.wasm)
most "$work/solve/solve.wasm.gz" 2500000 "solve for WebAssembly, gzipped"
public=$(sed -n 's/^Public, for other programs: \(.*\)\.$/\1/p' docs/internal/architecture.md | tr -d '`,')
[ "$(wc -w <<< "$public")" -ge 13 ] || fail "docs/internal/architecture.md lists no public packages"
for p in $public; do
  (cd "$work/solve" && GOOS=js GOARCH=wasm go build "$module/$p") || fail "$p does not build for WebAssembly"
  grep -qs '^func Example' "$p"/*_test.go || fail "$p has no runnable Example"
done
echo "$(wc -w <<< "$public") public packages build for WebAssembly, each with an Example"
