#!/usr/bin/env bash
# Traces ten training steps for every loss, in float32 and float64, and repeats each step in
# PyTorch from the traced state before it (replay_trace.py judges).
# usage: scripts/replay_all.sh COLLAPSE_BINARY WORK_DIR
set -euo pipefail
collapse=$1 work=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-/usr/bin/python3}
mkdir -p "$work"
for loss in ce ls lr mse rescaled_mse; do
  for dtype in float32 float64; do
    trace="$work/$loss-$dtype"
    "$collapse" --lab "$work/lab" train --data glyphs --loss "$loss" --noise 0.1 --classes 3 \
      --depth 3 --width 64 --feature-dim 5 --batch 64 --epochs 1 --lr 0.05 \
      --set data.pipeline=plain --set data.samples_per_class=220 --set data.test_samples_per_class=20 \
      --set loss.alpha=5 --set loss.m=3 --set run.dtype="$dtype" --again \
      --trace "$trace" --trace-steps 10 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$python" "$here/replay_trace.py" "$trace"
  done
done
