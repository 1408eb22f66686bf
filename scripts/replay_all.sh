#!/usr/bin/env bash
# Traces training steps and repeats each in PyTorch from the traced state before it (replay_trace.py judges): an MLP under every
# loss, in float32 and float64, with SGD and Adam, with each peeled decay, and with a normalized classifier; then the image networks in float32, with SGD and Adam.
# usage: scripts/replay_all.sh COLLAPSE_BINARY WORK_DIR [STEPS [NET...]]
# NET... names the only image networks to trace, such as vgg13.
# STEPS (20) is for each trace. Traces go through a pipe, so the disk holds none. Some minutes for 20 steps; the networks of
# eleven million parameters take nearly all of them.
set -euo pipefail
collapse=$1 work=$2 steps=${3:-20} only=" ${*:4} "
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-/usr/bin/python3}
mkdir -p "$work"

# replay NAME ARGUMENTS... traces a training on built-in images and judges it while it runs.
replay() {
  local name=$1 pipe="$work/$1" training judged=0
  shift
  rm -f "$pipe"
  mkfifo "$pipe"
  "$collapse" --lab "$work/lab" train --data glyphs --noise 0.1 --epochs 1 --set data.test_samples_per_class=4 --again \
    --trace "$pipe" --trace-steps "$steps" "$@" >"$work/log" 2>&1 &
  training=$!
  # A training that fails before it opens the pipe must not leave the judge waiting.
  (while kill -0 "$training" 2>/dev/null; do sleep 0.2; done; : <>"$pipe") &
  local watch=$!
  "$python" "$here/replay_trace.py" "$pipe" || judged=1
  wait "$training" || { cat "$work/log"; judged=1; }
  wait "$watch" || true
  rm -rf "$pipe" "$work/lab"
  [ "$judged" -eq 0 ] || exit 1
}

mlp=(--classes 3 --depth 3 --width 64 --feature-dim 5 --batch 32 --lr 0.05 --set data.pipeline=plain
  --set data.samples_per_class=220)
declare -A of_loss=([rescaled_mse]="--set loss.alpha=5 --set loss.m=3") # a setting without effect is refused
for loss in ce ls lr mse rescaled_mse; do
  for dtype in float32 float64; do
    # shellcheck disable=SC2086 # several words
    replay "mlp-$loss-$dtype" "${mlp[@]}" --loss "$loss" ${of_loss[$loss]:-} --set run.dtype="$dtype"
  done
done
for dtype in float32 float64; do
  replay "mlp-adam-$dtype" "${mlp[@]}" --set optim.kind=adam --lr 0.001 --set run.dtype="$dtype"
done
for decay in peeled peeled-batch peeled-code; do
  replay "mlp-$decay" "${mlp[@]}" --set optim.decay="$decay" --set optim.lambda_h=0.001
done
for dtype in float32 float64; do
  replay "mlp-normalized-$dtype" "${mlp[@]}" --set net.classifier=normalized --set net.linear_features=true --set run.dtype="$dtype"
done

# image NAME BATCH ARGUMENTS... with as many images as the steps need.
image() {
  local name=$1 batch=$2
  shift 2
  [[ "$only" =~ ^\ *$ || "$only" == *" $name "* ]] || return 0
  local common=(--classes 5 --batch "$batch" --set data.samples_per_class=$(((steps * batch + 4) / 5)) --set optim.weight_decay=5e-4 "$@")
  replay "$name-sgd" "${common[@]}" --lr 0.02
  replay "$name-adam" "${common[@]}" --lr 0.001 --set optim.kind=adam
}
image resnet18-adapt 16 --set net.kind=resnet18-adapt --set net.stem_width=8
image resnet18-default 16 --set net.kind=resnet18
image resnet18-cifar 8 --set net.kind=resnet18 --set net.stem=cifar
image vgg13 8 --set net.kind=vgg13
image vgg13-bn 8 --set net.kind=vgg13-bn
image resnet18-etf 40 --set net.kind=resnet18-adapt --set net.stem_width=8 --set net.classifier=etf --set net.feature_dim=10
