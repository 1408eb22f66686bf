#!/usr/bin/env bash
# Gives the module another path, for whoever gives it a home: in go.mod, imports, examples and scripts of this checkout. Commit what it changes.
#
# usage: scripts/rename_module.sh PATH     such as example.org/collapse
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

new=${1:-}
case $new in
*.*/*) ;;
*) echo "usage: scripts/rename_module.sh PATH, whose first element has a dot, such as example.org/collapse" >&2; exit 2 ;;
esac
old=$(go list -m)
# Folders with packages: what else stands behind the old path may be another name, such as that of a folder in a cache.
rooms=$(go list ./... | sed "s|^$old/||; s|/.*||" | sort -u | paste -sd '|')
git ls-files -z '*.go' '*.sh' .ci/run | OLD=$old NEW=$new ROOMS=$rooms xargs -0 perl -pi -e \
  's{(?<![\w./~-])\Q$ENV{OLD}\E/(?=(?:$ENV{ROOMS})\b)}{$ENV{NEW}/}g'
go mod edit -module="$new"
go -C examples mod edit -dropreplace="$old" -droprequire="$old" -require="$new@v0.0.0" -replace="$new=../"
gofmt -w $(git ls-files '*.go')
go -C examples mod tidy
go vet ./internal/archtest
