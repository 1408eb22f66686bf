#!/usr/bin/env bash
# docs/theory.html from docs/theory.md: pandoc typesets the formulas as MathML, which browsers draw without scripts. The page names the
# digests of what it is made of, so that a test sees without pandoc that it is of today.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../docs"
command -v pandoc >/dev/null || { echo "pandoc is not installed" >&2; exit 1; }
head=$(mktemp)
trap 'rm "$head"' EXIT
echo "<meta name=\"made-from\" content=\"$(cat theory.md theory.css | sha256sum | cut -d' ' -f1)\">" >"$head"
{ echo "<style>" && cat theory.css && echo "</style>"; } >>"$head"
pandoc --from gfm+tex_math_dollars --to html5 --mathml --standalone --wrap=none --metadata pagetitle="Theory of neural collapse" \
  --metadata lang=en --fail-if-warnings --include-in-header "$head" theory.md | sed 's/[[:space:]]*$//' >theory.html
