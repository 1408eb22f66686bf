#!/usr/bin/env bash
# Builds deploy/Containerfile with buildah, without a daemon, and runs the program inside as its user.
#
# usage: scripts/check_image.sh DIST WORK_DIR      DIST: from go run ./internal/release -platforms linux/amd64 -make image
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$2"
work=$(realpath "$2")
export BUILDAH_ISOLATION=chroot
build=(buildah --storage-driver vfs --root "$work/store" --runroot "$work/run")

"${build[@]}" build --quiet --timestamp 0 -f deploy/Containerfile -t collapse "$1/image"
container=$("${build[@]}" from collapse)
mounted=$("${build[@]}" mount "$container")
files=$(cd "$mounted" && find . -type f -printf '%m %P\n' | sort)
[ "$files" = "644 etc/group
644 etc/passwd
644 etc/ssl/certs/ca-certificates.crt
755 collapse" ] || { echo "the image holds: $files"; exit 1; }
[ "$(stat -c '%a %u' "$mounted/tmp" "$mounted/work" | xargs)" = "1777 0 755 65532" ] || { echo "/tmp or /work is not the user's to write"; exit 1; }
inside() { "${build[@]}" run "$container" "$@"; }
inside /collapse version
inside /collapse train --data glyphs --classes 2 --epochs 1 --width 4 --depth 1 >/dev/null # makes a lab in /work
inside /collapse runs list
[ "$(stat -c %u "$mounted/work/lab/lab.sqlite")" = 65532 ] || { echo "the lab is not the user's"; exit 1; }
[ "$("${build[@]}" inspect --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.WorkingDir}}' collapse)" = '65532:65532 [/collapse] /work' ]
"${build[@]}" rm "$container" >/dev/null
"${build[@]}" push --quiet collapse "oci-archive:$work/collapse.oci"
ls -l "$work/collapse.oci"
