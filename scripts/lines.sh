#!/usr/bin/env bash
# Counts the product's Go, room by room (a room is a folder): files, lines, lines of code (neither blank nor comment alone), types, and
# the lines of its tests.
#
# usage: scripts/lines.sh
#
# The product is what git tracks or would track, but for packages that only help tests (named …test), generators of assembly (asm),
# generated files, and the examples, which are a module of their own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

git ls-files -z --cached --others --exclude-standard -- '*.go' ':!examples/' | xargs -0 awk '
  FNR == 1 {
    room = FILENAME
    sub("/[^/]*$", "", room)
    file = comment = group = 0
    kind = FILENAME ~ /_test\.go$/ ? "tests" : room ~ /(test|\/asm)(\/|$)/ ? "help" : "product"
  }
  /^\/\/ Code generated .* DO NOT EDIT\.$/ { kind = "generated" }
  kind == "tests" { tests[room]++ }
  kind != "product" { next }
  FNR == 1 { files[room]++ }
  { lines[room]++ }
  comment { comment = !/\*\//; next }
  /^[ \t]*\/\*/ { comment = !/\*\//; next }
  /^[ \t]*($|\/\/)/ { next }
  { code[room]++ }
  /^type \($/ { group = 1; next }
  /^\)/ { group = 0 }
  /^type / || group && /^\t[A-Za-z_]/ { types[room]++ }
  END { for (r in files) print r, files[r], lines[r], code[r], types[r] + 0, tests[r] + 0 }' |
  sort | awk '
  BEGIN { format = "%-34s %6s %8s %8s %6s %8s\n"; printf format, "room", "files", "lines", "code", "types", "tests" }
  { printf format, $1, $2, $3, $4, $5, $6; files += $2; lines += $3; code += $4; types += $5; tests += $6 }
  END { printf format, NR " rooms", files, lines, code, types, tests }'
