#!/usr/bin/env bash
# Installs a wheel in a fresh environment, in a folder with a space in its name and without a network, and uses it; then installs the
# checkout in the same way, once with the Go on PATH and once with a program that is built already.
#
# usage: scripts/check_wheel.sh DIST WORK_DIR      DIST: from go run ./internal/release, with the wheel of this machine
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dist=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
python=/usr/bin/python3

offline=()
if unshare -rn true 2>/dev/null; then offline=(unshare -rn); else echo "no network namespaces here: the network is off by settings alone"; fi
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 GOPROXY=off

step() { printf -- '--- %s (%ds so far)\n' "$*" "$SECONDS"; }

# install VENV WHAT: into a new environment, with Debian's numpy and torch in reach.
install() {
  rm -rf "$work/$1"
  "$python" -m venv --system-site-packages "$work/$1"
  "${offline[@]}" "$work/$1/bin/python" -m pip install --quiet "$2"
}

step "checksums, and what Debian's wheel says of RECORD"
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
wheel=("$dist"/*manylinux*"$(uname -m)"*.whl)
"$python" -m wheel unpack --dest "$work/unpacked" "${wheel[0]}" >/dev/null
grep '^Tag' "$work"/unpacked/*/*.dist-info/WHEEL

step "the wheel, installed and used"
install "a wheel" "${wheel[0]}"
(
  cd "$work" # where no package collapse lies
  "a wheel/bin/collapse" version
  unset COLLAPSE_BINARY
  "${offline[@]}" "a wheel/bin/python" "$OLDPWD/scripts/check_wheel.py" "$work/a wheel" "$work/some features"
)

step "pip install ./python, built with $(go env GOVERSION)"
install "a checkout" ./python
"$work/a checkout/bin/collapse" version | head -1
cmp "$work"/"a wheel"/lib/python3*/site-packages/collapse/bin/collapse "$work"/"a checkout"/lib/python3*/site-packages/collapse/bin/collapse

step "pip install ./python with COLLAPSE_BINARY and without Go"
binary=("$work"/unpacked/*/collapse/bin/collapse)
chmod +x "${binary[0]}" # python3-wheel 0.38 forgets modes
COLLAPSE_BINARY="${binary[0]}" PATH=/usr/bin:/bin install "a binary" ./python
"$work/a binary/bin/collapse" version | head -1

if PATH=/usr/bin:/bin command -v go; then echo "not tried: what is said without Go"; exit 0; fi
step "pip install ./python without either says what is missing"
if PATH=/usr/bin:/bin install "nothing" ./python 2>"$work/refusal"; then echo "it was installed"; exit 1; fi
grep -E 'built with Go [0-9.]+ or later.*COLLAPSE_BINARY' "$work/refusal"
step "done"
