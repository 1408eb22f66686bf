#!/usr/bin/env bash
# Makes an environment with today's PyTorch, Lightning, transformers, … (compare/peers.txt) and prints the path of its Python. The
# night and compare/ use it; README's tests never do. The first call downloads some 3 GB, since the package index has PyTorch for x86 with CUDA.
#
# usage: scripts/peers_env.sh [--newest] [--versions]
#        --newest      install anew what has a newer version by now
#        --versions    print each library's version, too
#
# It lies in COLLAPSE_PEERS, or in collapse/peers of the user's cache. Needs a Python with venv: COLLAPSE_PEERS_PYTHON, or python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

list=compare/peers.txt
place=${COLLAPSE_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/collapse/peers}
newest='' versions=''
for word; do
  case $word in
  --newest) newest=1 ;;
  --versions) versions=1 ;;
  *) sed -n '2,/^set/{/^#/p}' "$0" >&2; exit 2 ;;
  esac
done

mkdir -p "$place"
exec 9>"$place/lock"
flock 9 # two calls at once make it once
# A list that has changed, or a download that broke off, is installed again.
if [ -n "$newest" ] || ! cmp -s "$list" "$place/installed"; then
  rm -f "$place/installed"
  [ -x "$place/bin/python" ] || "${COLLAPSE_PEERS_PYTHON:-python3}" -m venv "$place" >&2
  "$place/bin/python" -m pip install --quiet --disable-pip-version-check ${newest:+--upgrade --upgrade-strategy eager} -r "$list" >&2
  cp "$list" "$place/installed"
fi
echo "$place/bin/python"
[ -z "$versions" ] || "$place/bin/python" -m pip freeze | grep -i -E "^($(sed 's, *#.*,,; s,\[.*,,; /^$/d' "$list" | paste -sd'|'))=="
