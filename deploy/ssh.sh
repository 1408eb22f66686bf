#!/usr/bin/env bash
# Workers of a study on machines that you reach by ssh. Each gets the binary and the token, and a worker
# that ends with this script.
#
#   deploy/ssh.sh URL TOKEN_FILE HOST…       such as  deploy/ssh.sh nats://10.0.0.5:4333 lab/queue.token node1 node2
#
# SSH and COLLAPSE choose the ssh command and the binary to copy (default: ssh, and collapse of PATH).
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,8p' "$0" >&2; exit 2; }
url=$1 token=$2
shift 2
binary=${COLLAPSE:-$(command -v collapse)}
ssh=${SSH:-ssh}
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait' EXIT INT TERM
for host in "$@"; do
  $ssh "$host" 'umask 077; mkdir -p .collapse-worker; cat > .collapse-worker/queue.token' <"$token"
  $ssh "$host" 'cat > .collapse-worker/collapse.new && chmod +x .collapse-worker/collapse.new && mv .collapse-worker/collapse.new .collapse-worker/collapse' <"$binary"
  # A worker whose ssh ends notices that its input, which never says anything, has ended, and stops.
  exec {open}< <(exec sleep infinity)
  pids+=($!)
  $ssh "$host" "cd .collapse-worker || exit 1; ./collapse worker --connect '$url' --token-file queue.token --name '$host' & pid=\$!
    cat >/dev/null; kill -TERM \$pid; wait \$pid" <&"$open" &
  pids+=($!)
done
wait
