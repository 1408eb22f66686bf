#!/usr/bin/env bash
# Runs the tests where more than the code could matter: in random order, without a home, with a temporary folder that only its owner may
# write to, and with other masks, locales, time zones and, for root, another user with a checkout of his own.
#
# usage: scripts/surroundings.sh [PACKAGE…]      ./... unless given
set -euo pipefail

# inside is what `go test -exec` calls with a test's program.
if [ "${1:-}" = --inside ]; then
  how=$2 test=$3
  shift 3
  export HOME=$SURROUNDINGS/no-home
  case $how in
  strict)
    umask 077
    exec env TMPDIR="$SURROUNDINGS/owned" LC_ALL=tr_TR.UTF-8 TZ=Pacific/Kiritimati "$test" "$@"
    ;;
  stranger)
    umask 000
    own=$(mktemp -d "$SURROUNDINGS/stranger.XXXXXX") # go test keeps its programs where nobody else may read
    cp "$test" "$own/test"
    chown -R nobody "$own"
    status=0
    # A parent of its own keeps the folder until the test has ended.
    TMPDIR=$own GOCACHE=$SURROUNDINGS/cache GOMODCACHE=$SURROUNDINGS/modules LC_ALL=C TZ=Pacific/Pago_Pago setpriv --reuid=nobody --regid=nogroup --clear-groups "$own/test" "$@" || status=$?
    rm -rf "$own"
    exit "$status"
    ;;
  esac
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
packages=("${@:-./...}")
SURROUNDINGS=$(mktemp -d)
trap 'rm -rf "$SURROUNDINGS"' EXIT
chmod 755 "$SURROUNDINGS"
mkdir -m 755 "$SURROUNDINGS/owned"
mkdir -m 777 "$SURROUNDINGS/cache"
GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE) GOPATH=$(go env GOPATH)
export SURROUNDINGS GOCACHE GOMODCACHE GOPATH
# Files that belong to somebody else are git's own worry.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'

hows=(strict)
if [ "$(id -u)" -ne 0 ]; then
  echo "not tried as another user: only root can"
elif ! setpriv --reuid=nobody --regid=nogroup --clear-groups test -r go.mod; then
  echo "not tried as another user: nobody may not read $PWD"
else
  # Links, since a home is often closed to others.
  cp -al "$GOMODCACHE" "$SURROUNDINGS/modules" 2>/dev/null || cp -a "$GOMODCACHE" "$SURROUNDINGS/modules"
  cp -a "$PWD" "$SURROUNDINGS/tree"
  chown -R nobody "$SURROUNDINGS/tree"
  hows+=(stranger)
fi
failed=0
for how in "${hows[@]}"; do
  echo "--- $how"
  [ "$how" = strict ] || cd "$SURROUNDINGS/tree"
  go test -count=1 -shuffle=on -exec "$PWD/scripts/surroundings.sh --inside $how" "${packages[@]}" || failed=1
done
exit "$failed"
