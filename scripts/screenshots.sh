#!/usr/bin/env bash
# Pictures of every main page of `collapse serve`, light and dark, wide and narrow, into docs/images (or the folder given).
# The lab is COLLAPSE_LAB's, else a smoke demo's. Needs chromium.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(mkdir -p "${1:-docs/images}" && cd "${1:-docs/images}" && pwd)
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
  { echo "chromium is not installed" >&2; exit 1; }
COLLAPSE_SCREENSHOTS="$out" go test -count=1 -timeout 20m -run '^TestScreenshots$' ./internal/serve
ls -1 "$out"/serve-*.png
