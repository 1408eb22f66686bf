#!/usr/bin/env bash
# Runs the trainers of examples/trainers with the real libraries: each is a study of two seeds, must end, and must learn.
#
# usage: scripts/trainers.sh COLLAPSE PYTHON [NAME…]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
collapse=$(realpath "$1") python=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp examples/trainers/* "$work"
export PYTHONPATH=$PWD/python
cd "$work"
[ $# -gt 0 ] || set -- torch_digits.py lightning_digits.py transformers_digits.py keras_digits.py jax_digits.py sklearn_digits.py shell.sh
for file; do
  name=${file%.*} program=\"$python\" at_least=0.8 value=test/accuracy settings=$'[base]\nlr = 0.1'
  [ "$file" != shell.sh ] || program='"sh"' at_least=0 value=test/loss settings=
  printf '[study]\nname = "%s"\nseeds = 2\n[trainer]\ncommand = [%s, "%s"]\ncode = ["%s", "digits.py"]\nepochs = 4\n%s\n[[table]]\ntitle = "%s"\nrows = ["run.epochs"]\nvalues = ["%s"]\n' \
    "$name" "$program" "$file" "$file" "$settings" "$name" "$value" >"$name.toml"
  "$collapse" --lab lab study run "$name.toml" >"$name.log" 2>&1 || { cat "$name.log"; "$collapse" --lab lab runs list; exit 1; }
  mean=$("$collapse" --lab lab --json study judge "$name" | sed -n 's/.*"mean": *\([-0-9.e]*\).*/\1/p' | head -1)
  echo "$name: $value $mean"
  awk "BEGIN { exit !($mean > $at_least) }" || { echo "$name has not learned"; exit 1; }
done
