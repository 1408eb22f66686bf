#!/usr/bin/env bash
# Copies a lab with `collapse lab copy` while a study is computed in it, whose process is killed and started again now and then. Each copy
# must be whole at once (`collapse runs check`), and its unfinished runs must end there with the rows and files of the original.
#
# usage: scripts/copy_labs.sh [COPIES [SEED]]      needs go; COLLAPSE=path uses a program that is built already
set -euo pipefail
cd "$(dirname "$0")/.."
copies=${1:-60}
RANDOM=${2:-$$}
work=$(mktemp -d)
trap 'kill -9 "${coordinator:-0}" 2> /dev/null || true; rm -rf "$work"' EXIT
collapse=${COLLAPSE:-$work/collapse}
[ -n "${COLLAPSE:-}" ] || go build -o "$collapse" ./cmd/collapse

cat > "$work/busy.toml" <<'END'
[study]
seeds = 2
[base]
data.name = "glyphs"
data.samples_per_class = 60
data.test_samples_per_class = 20
data.pipeline = "plain"
net.depth = 1
net.width = 32
run.epochs = 80
run.checkpoint_every = 1
run.batch = 20
run.measure_every = 2
run.save_features = "every=20"
[grid]
loss.kind = ["ce", "mse"]
END

# rows prints every number of a lab but for how fast it was computed.
rows() { "$collapse" --lab "$1" export 2> /dev/null | grep -v -e images_per_s -e core_seconds | sort; }

same() { # COPY ORIGINAL
	[ "$(rows "$2" | wc -l)" -gt 1000 ] && cmp <(rows "$1") <(rows "$2") && diff -r "$1/runs" "$2/runs"
}

# study computes the study of the lab $1 in a process of its own.
study() {
	"$collapse" --lab "$1" study run "$work/busy.toml" --workers 2 --threads 2 > "$work/log" 2>&1 &
	coordinator=$!
}

made=0 unfinished=0 kills=0
for ((round = 1; made < copies; round++)); do
	lab=$work/lab$round
	study "$lab"
	until [ -e "$lab/lab.sqlite" ] && "$collapse" --lab "$lab" runs list 2> /dev/null | grep -q running; do
		kill -0 "$coordinator" 2> /dev/null || { cat "$work/log"; exit 1; }
		sleep 0.02
	done
	first=$((made + 1))
	while ((made < copies)) && kill -0 "$coordinator" 2> /dev/null; do
		sleep "0.$((RANDOM % 40 + 10))"
		copy=$work/copy$((++made))
		"$collapse" --lab "$lab" lab copy "$copy" > "$work/said"
		open=$(sed -n 's/.*, \([0-9]*\) of them unfinished.*/\1/p' "$work/said")
		((open == 0)) || unfinished=$((unfinished + 1))
		"$collapse" --lab "$copy" runs check > "$work/check" || { cat "$work/check"; echo "copy $made is not whole" >&2; exit 1; }
		if ((RANDOM % 4 == 0)); then
			kill -9 "$coordinator" 2> /dev/null && kills=$((kills + 1)) || true
			wait "$coordinator" 2> /dev/null || true
			study "$lab"
		fi
	done
	wait "$coordinator" || { cat "$work/log"; exit 1; }
	for ((i = first; i <= made; i++)); do
		"$collapse" --lab "$work/copy$i" study resume busy --workers 2 --threads 2 > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
		same "$work/copy$i" "$lab" || { echo "copy $i ends in other numbers or files" >&2; exit 1; }
		rm -rf "$work/copy$i"
	done
	rm -rf "$lab"
	echo "$made copies, $unfinished of them with unfinished runs, $kills kills: all whole, and all end alike"
done
((unfinished * 2 > made)) || { echo "too few copies had unfinished runs: the machine is too fast for this study" >&2; exit 1; }
