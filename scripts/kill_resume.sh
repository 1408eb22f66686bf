#!/usr/bin/env bash
# Kills `collapse train` with kill -9 at random moments twenty times, resumes it each time, and compares the final checkpoint and
# features with those of a run that was never killed, byte for byte.
#
# usage: scripts/kill_resume.sh [KILLS [SEED]]      needs go; COLLAPSE=path uses a program that is built already
set -euo pipefail
cd "$(dirname "$0")/.."
kills=${1:-20}
RANDOM=${2:-$$}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
collapse=${COLLAPSE:-$work/collapse}
[ -n "${COLLAPSE:-}" ] || go build -o "$collapse" ./cmd/collapse

cat > "$work/run.toml" <<'END'
[data]
name = "glyphs"
classes = 4
samples_per_class = 300
test_samples_per_class = 100
noise = 0.2
pipeline = "plain"
[net]
depth = 3
width = 192
[loss]
kind = "ls"
[run]
epochs = 300
checkpoint_every = 1
batch = 128
END

begin=$(date +%s%N)
"$collapse" --lab "$work/whole" train "$work/run.toml" > /dev/null 2> "$work/log" || { cat "$work/log"; exit 1; }
took=$((($(date +%s%N) - begin) / 1000000))
echo "unbroken: $took ms"

# Delays are drawn up to 5/4 of the run over the number of kills, so that all of them end before it does.
done_kills=0
for ((try = 1; done_kills < kills && try <= 2 * kills; try++)); do
    "$collapse" --lab "$work/killed" train "$work/run.toml" > /dev/null 2> "$work/log" &
    pid=$!
    delay=$(((RANDOM * 32768 + RANDOM) % (5 * took / (4 * kills) + 1)))
    sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
    if kill -9 "$pid" 2> /dev/null; then
        done_kills=$((done_kills + 1))
    fi
    status=0
    wait "$pid" 2> /dev/null || status=$?
    newest=$(ls "$work"/killed/runs/*/ckpt 2> /dev/null | sort -n | tail -1 || true)
    echo "kill $done_kills after $delay ms: status $status, newest checkpoint ${newest:-none}"
    if [ "$status" != 137 ]; then
        cat "$work/log"
        echo "the run ended by itself before it was killed" >&2
        exit 1
    fi
done

run=$(basename "$work"/killed/runs/*)
"$collapse" --lab "$work/killed" train --resume "$run" > /dev/null 2> "$work/log" || { cat "$work/log"; exit 1; }
grep -i resuming "$work/log" || true

for file in ckpt/300/model.safetensors ckpt/300/optim.safetensors ckpt/300/state.json ckpt/299/model.safetensors features.npz; do
    cmp "$work/whole/runs/$run/$file" "$work/killed/runs/$run/$file"
done
echo "ok: $done_kills kills, and the same bytes"
