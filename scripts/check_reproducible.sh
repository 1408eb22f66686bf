#!/usr/bin/env bash
# Makes a release again, in another folder, from nothing but the files of the checkout and an empty build cache, and compares every byte.
#
# usage: scripts/check_reproducible.sh DIST WORK_DIR PLATFORMS      DIST: from go run ./internal/release, with PLATFORMS at least
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dist=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
again="$work/another checkout"
rm -rf "$again" "$work/again" "$work/cache"
mkdir "$again"
# What git tracks and what it does not ignore, as it lies here.
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do if [ -e "$f" ]; then printf '%s\0' "$f"; fi; done |
  tar --null -T - -c -f - | tar -x -f - -C "$again"
(cd "$again" && GOCACHE="$work/cache" GOPROXY=off GOFLAGS=-trimpath go run ./internal/release -platforms "$3" -out "$work/again")
rm -rf "$work/cache"
while read -r _ name; do
  [ "${name#image/}" = "$name" ] || continue
  cmp "$dist/$name" "$work/again/$name"
  echo "the same bytes: $name"
done <"$work/again/SHA256SUMS"
