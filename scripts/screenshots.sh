#!/usr/bin/env bash
# Pictures of every main page of `collapse serve`. Without an argument: the wide, light ones into docs/images, for README. With a
# folder: all of them, light and dark, at three widths, into it. The lab is COLLAPSE_LAB's, else a smoke demo's. Needs chromium.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
  { echo "chromium is not installed" >&2; exit 1; }
out=${1:-$(mktemp -d)}
mkdir -p "$out"
out=$(cd "$out" && pwd)
COLLAPSE_LONG=gate COLLAPSE_SCREENSHOTS="$out" go test -count=1 -timeout 20m -run '^TestScreenshots$' ./internal/serve
if [ $# -eq 0 ]; then
  for page in studies study list run features compare groups measure theory; do
    cp "$out/serve-$page-light-wide.png" "docs/images/serve-$page.png"
  done
  rm -r "$out"
fi
