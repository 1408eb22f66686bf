#!/usr/bin/env bash
# Compares every measure of random sets with an evaluation of its definition in double-double arithmetic: 2,000 sets, where `go test`
# takes 200. Prints, for each key, how many numbers lay outside the stated uncertainty, outside a tenth of it, and how often it was useful.
#
# usage: scripts/uncertainty.sh [SETS]      needs go; about ten minutes on two cores
set -euo pipefail
cd "$(dirname "$0")/.."
COLLAPSE_SETS=${1:-2000} COLLAPSE_DIAGNOSE=1 go test ./measure -count=1 -timeout 20m -v -run '^(TestUncertaintyHolds|TestOracleCoversRegistry)$'
