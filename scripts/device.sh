#!/usr/bin/env bash
# Runs parts on a second machine with many cores and a GPU that is at hand only for minutes: no network there, and its own Python and PyTorch.
#
# usage: scripts/device.sh pack                        here: builds the program, compressed, into out/device; MNIST of the folder COLLAPSE_MNIST, too
#        scripts/device.sh run MINUTES OUT PART…       there, in a copy of this checkout with out/device in it
#        scripts/device.sh parts                       what there is to run
#
# A part is a file scripts/device/PART.sh. It finds the program in COLLAPSE, a Python in PYTHON, a scratch folder in WORK, a folder for
# files that are worth keeping in OUT, and the seconds that it may take in LEFT; what it prints is its result. OUT/results.txt has the machine, all
# versions, and the output, status and seconds of each part; it is whole after each, so that a machine that is taken back loses one part at most.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

most_carried=$((64 << 20)) # bytes that may travel there
most_files=8 most_file=$((16 << 20)) # and back

usage() {
  sed -n '/^# usage/,/^#$/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

parts() { for file in scripts/device/*.sh; do basename "$file" .sh; done; }

pack() {
  mkdir -p out/device
  CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -trimpath -ldflags='-s -w' -o out/device/collapse ./cmd/collapse
  gzip -9 --force out/device/collapse
  if [ -n "${COLLAPSE_MNIST:-}" ]; then
    rm -rf out/device/mnist
    install -D -m 644 -t out/device/mnist "$COLLAPSE_MNIST"/*-ubyte.gz
  fi
  local bytes
  bytes=$({ git ls-files -z --cached --others --exclude-standard; find out/device -type f -print0; } | xargs -0 stat -c %s | awk '{ n += $1 } END { print n }')
  echo "out/device/collapse.gz: $(stat -c %s out/device/collapse.gz) bytes; with the checkout $bytes"
  [ "$bytes" -le "$most_carried" ] || { echo "more than $most_carried bytes do not travel" >&2; exit 1; }
}

machine() {
  echo "date       $(date -u +%FT%TZ)"
  echo "commit     $(git rev-parse HEAD 2>/dev/null || echo unknown)"
  echo "program    $("$COLLAPSE" version | head -1)"
  echo "processor  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) to use"
  lscpu 2>/dev/null | grep -E '^(Thread|Core|Socket|NUMA node\(|L[123])' | sed 's/^/           /'
  echo "memory     $(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)"
  echo "kernel     $(uname -sr)"
  echo "GPU        $(nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader 2>/dev/null || echo none)"
  "$PYTHON" - <<'END'
import importlib.metadata, sys
print("python    ", sys.version.split()[0])
for name in ("numpy", "torch", "torchvision", "lightning", "transformers", "timm"):
    try:
        print("%-10s" % name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        print("%-10s" % name, "missing")
END
}

run() {
  [ $# -ge 3 ] && [ "$1" -gt 0 ] 2>/dev/null || usage
  local end=$((SECONDS + 60 * $1)) name
  mkdir -p "$2"
  OUT=$(realpath "$2") WORK=$(mktemp -d) PYTHON=${PYTHON:-python3}
  COLLAPSE=$WORK/collapse
  export OUT WORK PYTHON COLLAPSE
  trap 'rm -rf "$WORK"' EXIT
  shift 2
  for name; do [ -f "scripts/device/$name.sh" ] || { echo "no part $name; there are: $(parts | xargs)" >&2; exit 2; }; done
  gzip -dc out/device/collapse.gz >"$COLLAPSE"
  chmod +x "$COLLAPSE"

  local results=$OUT/results.txt failed=0
  machine 2>&1 | tee "$results"
  for name; do
    local status=0 begin=$SECONDS
    printf '\n=== %s\n' "$name" | tee -a "$results"
    LEFT=$((end - SECONDS))
    if [ "$LEFT" -lt 5 ]; then
      echo "not run: the time is over" | tee -a "$results"
      failed=1
      continue
    fi
    LEFT=$LEFT timeout --kill-after=5 "$LEFT" bash -euo pipefail "scripts/device/$name.sh" 2>&1 | tee -a "$results" || status=$?
    [ "$status" -eq 0 ] || failed=1
    [ "$status" -ne 124 ] || echo "stopped: its time was over" | tee -a "$results"
    echo "--- $name: status $status, $((SECONDS - begin)) s" | tee -a "$results"
  done
  small_enough
  return "$failed"
}

# small_enough names what would not come back.
small_enough() {
  local files large
  files=$(find "$OUT" -type f | wc -l)
  large=$(find "$OUT" -type f -size +"$most_file"c -printf '%P ')
  [ "$files" -le "$most_files" ] || echo "$files files, and only $most_files come back" >&2
  [ -z "$large" ] || echo "too large to come back: $large" >&2
}

case ${1:-} in
pack) pack ;;
run) shift; run "$@" ;;
parts) parts ;;
*) usage ;;
esac
