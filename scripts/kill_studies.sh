#!/usr/bin/env bash
# Kills coordinators and workers of studies with kill -9 at random moments, hands their runs over between machines, and compares every
# lab that comes of it with one that nothing happened to: the bits of all values, checkpoints, folders. See kill_studies.py.
#
# usage: scripts/kill_studies.sh [KILLS [SEED]]     needs go and python3; COLLAPSE=path uses a program that is built already
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
collapse=${COLLAPSE:-$work/collapse}
[ -n "${COLLAPSE:-}" ] || go build -o "$collapse" ./cmd/collapse
python3 scripts/kill_studies.py "$collapse" "$work" "${1:-20}" "${2:-$RANDOM}"
