#!/usr/bin/env bash
# Proves what .ci/run leaves out because it takes too long: whole simulations, releases, other processors, kills, other libraries.
#
# usage: scripts/night.sh [--again] [PART…]      all parts, or some
#        scripts/night.sh --list                 what they are
#
# A part that has passed on these very files is not run again (--again: it is), so a night that broke off goes on where it was. Logs lie in
# COLLAPSE_NIGHT, or in collapse/night of the user's cache; night.txt there has the table. The status is 1 if a part failed.
# Needs what .ci/run installs. Campaigns of kills and of fuzzing that take hours are scripts/campaign.py and scripts/fuzz.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

declare -A what=(
  [release]="programs of every platform, archives, wheels; size, static, certificates"
  [image]="an image, built and run by buildah"
  [reproducible]="the release of linux/amd64 once more, elsewhere, with an empty build cache: the same bytes"
  [qemu]="arm64 kernels and teams under qemu; not faults in mapped memory, of which qemu does not say the address"
  [generic]="all tests of whatever computes, with the generic kernels"
  [race]="the race detector on more than .ci/run has time for"
  [surroundings]="tests as another user, with another HOME, TMPDIR, umask, locale, time zone and order"
  [examples]="the examples, as another module"
  [outside]="the public packages by go get, as of the last commit: sizes, what is linked, WebAssembly, an Example each"
  [simulations]="long tests whole: COLLAPSE_LONG"
  [parity]="every network against PyTorch, the large ones too"
  [replays]="traced steps repeated in PyTorch"
  [kills]="kill -9 of runs, studies and engines"
  [fuzz]="every fuzz target for three seconds, from its corpus"
  [mutants]="packages that changed since COLLAPSE_SINCE (default: the last tag, else origin, else 20 commits ago): whether their tests notice small changes; errors that no test reaches"
  [libraries]="the Python package beside today's PyTorch, Lightning, transformers, timm; exports read back by pandas, Polars, DuckDB, TensorBoard, MLflow and W&B"
  [trainers]="the trainers of examples/trainers as studies, with PyTorch, Lightning, transformers, Keras, JAX, scikit-learn and a shell"
  [conformance]="files that today's libraries write, measured"
  [comparisons]="calls and training steps beside today's PyTorch, agreement with the reference library's formulas"
)
order=(release image reproducible qemu generic race surroundings examples outside simulations parity replays kills fuzz mutants libraries trainers conformance comparisons)

python=/usr/bin/python3
export GOFLAGS=-trimpath CGO_ENABLED=0 COLLAPSE_LONG=gate # as .ci/run; simulations are whole
if [ -z "${COLLAPSE_DATA:-}" ] && [ -d ../shared/data ]; then
  COLLAPSE_DATA=$(cd ../shared/data && pwd)
  export COLLAPSE_DATA
fi

# files names the files as they lie here, whether committed or not.
files() {
  local index
  index=$(mktemp -u)
  GIT_INDEX_FILE=$index git add -A . && GIT_INDEX_FILE=$index git write-tree
  rm -f "$index"
}

home=${COLLAPSE_NIGHT:-${XDG_CACHE_HOME:-$HOME/.cache}/collapse/night}
tree=$(files)
night=$home/$tree
dist=$night/dist
collapse=$night/collapse

part_release() {
  rm -rf "$dist"
  go run ./internal/release -make archives,wheels,notes,image -out "$dist"
  (cd "$dist" && sha256sum --quiet -c SHA256SUMS)
  local name
  for name in "$dist"/*.tar.gz "$dist"/*.zip; do echo "$(stat -c %s "$name") $(basename "$name")"; done
  tar -xzf "$dist"/collapse-*-linux-amd64.tar.gz --strip-components=1 -C "$night" --wildcards '*/collapse'
  [ "$(stat -c %s "$collapse")" -le $((52 << 20)) ] || { echo "the program is larger than 52 MiB"; return 1; }
  if ldd "$collapse" 2>&1 | grep -q '=>'; then echo "the program is not static"; return 1; fi
  "$collapse" version
}
part_image() { needs release; scripts/check_image.sh "$dist" "$night/image"; }
part_reproducible() { needs release; scripts/check_reproducible.sh "$dist" "$night/again" linux/amd64; }
part_qemu() {
  local package
  for package in parallel internal/kernel/{isa,memory,gemm,conv,elementwise,rows,kerneltest}; do
    GOOS=linux GOARCH=arm64 go test -c -o "$night/arm64.test" "./$package"
    (cd "$package" && qemu-aarch64-static "$night/arm64.test" -test.short -test.skip Fault) || return 1
  done
}
# Packages that compute nothing themselves, or only call those that do, need not be asked twice.
part_generic() {
  local others='/internal/(archtest|bench|chart|cli|demo|faulttest|figure|format|judge|licenses|longtest|measurement|outfile|page|parity|process|queue|recipe|release|results|rundir|safetext|scale|script|search|serve|spelling|store|study|tensorboard|upkeep|version|wheel|zipped)(/|$)'
  # shellcheck disable=SC2046 # several words
  COLLAPSE_KERNEL=generic go test -count=1 -skip Torchvision $(go list ./... | grep -v -E "$others")
}
part_race() {
  CGO_ENABLED=1 go test -race -short -timeout 20m -skip 'Torch|UncertaintyHolds|KernelsNameAlone' ./measure ./nn ./internal/serve ./internal/page ./internal/judge ./internal/script ./internal/upkeep ./internal/queue ./internal/study/...
}
part_surroundings() { env -u COLLAPSE_LONG scripts/surroundings.sh; }
part_examples() {
  (
    cd examples
    go mod tidy -diff
    go vet ./...
    local example
    for example in measure train solve; do go run "./$example"; done
    go run ./tensors ../arrayfile/testdata/stored.npz ../arrayfile/testdata/zip.pt
  )
}
part_outside() {
  [ "$(git rev-parse 'HEAD^{tree}')" = "$tree" ] || { echo "looks at the last commit, which these files are not: commit first"; return 1; }
  scripts/outside_module.sh
}
# Tests that .ci/run has run whole need not be asked twice: only those of files that ask for a share, or, where a file without tests does, all
# of its package.
part_simulations() {
  local long files file
  files=$(grep -rlE --include='*_test.go' 'longtest\.(Of|Whole|Seeds)' .)
  long=$(for file in $files; do
    if grep -q '^func Test' "$file"; then cat "$file"; else cat "${file%/*}"/*_test.go; fi
  done | grep -oE '^func Test\w+' | cut -d' ' -f2 | sort -u | paste -sd '|')
  # shellcheck disable=SC2046 # several words
  COLLAPSE_LONG=1 go test -count=1 -timeout 40m -run "^($long)$" $(xargs -n1 dirname <<<"$files" | sort -u)
}
part_parity() { COLLAPSE_PARITY=heavy go test -count=1 -v -timeout 40m -run TorchComputes ./internal/parity; }
part_replays() { needs release; scripts/replay_all.sh "$collapse" "$night/trace" 5; }
part_kills() {
  needs release
  COLLAPSE="$collapse" scripts/kill_resume.sh 20
  COLLAPSE="$collapse" scripts/kill_studies.sh 20
  python3 scripts/kill_scripts.py "$collapse" 20 10
  scripts/kill_engines.py "$collapse" 9
}
part_fuzz() { FUZZ_PARALLEL=2 scripts/fuzz.sh 3s; }
part_mutants() {
  local since=${COLLAPSE_SINCE:-}
  [ -n "$since" ] || since=$(git describe --tags --abbrev=0 2>/dev/null || git rev-parse --verify --quiet '@{upstream}' || git rev-parse --verify --quiet origin/HEAD || git rev-parse 'HEAD~20')
  scripts/mutants.sh -refusals
  scripts/mutants.sh -since "$since" -budget 10m
}
part_libraries() {
  needs release
  local peers
  peers=$(scripts/peers_env.sh)
  scripts/peers_env.sh --versions
  COLLAPSE_BINARY="$collapse" "$peers" -m unittest discover -s python/tests
  "$peers" scripts/gpu.py "$collapse" cpu
  "$peers" scripts/exports.py "$collapse"
}
part_trainers() { needs release; scripts/trainers.sh "$collapse" "$(scripts/peers_env.sh)"; }
part_conformance() {
  needs release
  local peers
  peers=$(scripts/peers_env.sh)
  COLLAPSE_BINARY="$collapse" "$peers" scripts/conformance.py
  COLLAPSE_BINARY="$collapse" "$peers" scripts/conformance_siblings.py
}
part_comparisons() {
  needs release
  local peers
  peers=$(scripts/peers_env.sh)
  "$peers" compare/documented.py --binary "$collapse"
  "$peers" compare/python_call.py --binary "$collapse" --rounds 2
  if [ -n "${COLLAPSE_REFERENCE:-}" ]; then
    "$peers" compare/compare_reference.py --library "$COLLAPSE_REFERENCE" --binary "$collapse" --agree --seeds 3
  else
    echo "not compared with the reference library: COLLAPSE_REFERENCE names no checkout (compare/README.md)"
  fi
  "$peers" compare/all.py --binary "$collapse" --quick
}

# needs makes what another part leaves behind.
needs() { [ -e "$night/$1.passed" ] || { echo "needs the part $1, which has not passed"; return 1; }; }

# one runs a part and notes how it went.
one() {
  local begin=$SECONDS status=passed
  if [ -e "$night/$1.passed" ] && [ -z "$again" ]; then
    echo "$1: passed before"
    return
  fi
  rm -f "$night/$1.passed" "$night/$1.failed"
  printf '%s: %s … ' "$1" "${what[$1]}"
  # In the background, since bash ignores set -e in whatever stands before ||.
  (set -euo pipefail; "part_$1") >"$night/$1.log" 2>&1 </dev/null &
  wait $! || status=failed
  echo "$((SECONDS - begin))" >"$night/$1.$status"
  echo "$status, $((SECONDS - begin)) s"
  [ "$status" = passed ] || tail -n 20 "$night/$1.log" | sed 's/^/    /'
}

# table is the night so far.
table() {
  echo "commit $(git rev-parse --short HEAD), files ${tree:0:12}, $(nproc) processors"
  printf '%-14s %-8s %8s  %s\n' part result seconds "last line of its log"
  local name result
  for name in "${order[@]}"; do
    result="not run"
    for r in passed failed; do [ -e "$night/$name.$r" ] && result=$r; done
    printf '%-14s %-8s %8s  %s\n' "$name" "$result" "$(cat "$night/$name.$result" 2>/dev/null || true)" "$(tail -n 1 "$night/$name.log" 2>/dev/null | cut -c 1-100)"
  done
}

again=''
parts=()
for word; do
  case $word in
  --again) again=1 ;;
  --list) for name in "${order[@]}"; do printf '%-14s %s\n' "$name" "${what[$name]}"; done; exit ;;
  *)
    [ -n "${what[$word]:-}" ] || { echo "no part $word; there are: ${order[*]}" >&2; exit 2; }
    parts+=("$word")
    ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=("${order[@]}")
mkdir -p "$night"
for name in "${parts[@]}"; do one "$name"; done
table | tee "$night/night.txt" "$home/night.txt"
for name in "${parts[@]}"; do [ -e "$night/$name.passed" ] || exit 1; done
