//go:build unix

package trials

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/worker"
)

const scriptSearch = `
[study]
name = "mine"
[trainer]
command = ["sh", "train.sh"]
epochs = 9
args = "flags"
[search]
sampler = "random"
trials = 6
batch = 3
metric = "test/loss"
goal = "min"
[search.space]
lr = { uniform = [0.0, 1.0] }
`

// scriptText sums its epochs in its checkpoints.
const scriptText = `
sum=0; e=$((COLLAPSE_FROM_EPOCH + 1))
[ $COLLAPSE_FROM_EPOCH = 0 ] || sum=$(cat "$COLLAPSE_DIR/ckpt/$COLLAPSE_FROM_EPOCH/sum") || exit 1
while [ $e -le $COLLAPSE_EPOCHS ]; do
  sum=$((sum + e)); mkdir -p "$COLLAPSE_DIR/ckpt/.tmp"; echo $sum > "$COLLAPSE_DIR/ckpt/.tmp/sum"; mv "$COLLAPSE_DIR/ckpt/.tmp" "$COLLAPSE_DIR/ckpt/$e"
  echo "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": $e, \"values\": {\"test/loss\": $2, \"sum\": $sum}}" >> "$COLLAPSE_EVENTS"; e=$((e + 1))
done
echo "{\"generation\": $COLLAPSE_GENERATION, \"done\": true}" >> "$COLLAPSE_EVENTS"
`

// Workers elsewhere compute a search of a script if they may start it, including the rungs that continue; a worker that may not
// leaves the runs to others.
func TestAScriptsSearchElsewhere(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "train.sh"), []byte(scriptText), 0o666))
	f, err := study.ParseFile(filepath.Join(folder, "mine.toml"), []byte(scriptSearch), nil, 0)
	must(t, err)
	lab := studytest.Lab(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	o := coordinator.Options{Listen: free.Addr().String(), Token: "secret", Queue: studytest.QuickQueue()}
	must(t, free.Close())
	var url <-chan string
	o.Logf, url = studytest.Announced(t.Logf)
	ended := make(chan error, 1)
	go func() {
		_, err := Run(t.Context(), lab, f, o)
		ended <- err
	}()
	address := <-url
	var mu sync.Mutex
	began := map[string]int{}
	for _, scripts := range []string{"", folder} {
		options := worker.Options{Slots: 1, Threads: 1, Scratch: t.TempDir(), Scripts: scripts, Logf: t.Logf, Watch: func(hash string, p study.Progress) {
			mu.Lock()
			defer mu.Unlock()
			if _, known := began[hash]; !known {
				began[hash] = p.Epoch
			}
			if scripts == "" {
				t.Error("a worker without permission has started a script")
			}
		}}
		studytest.InBackground(t, address, func(ctx context.Context, b *queue.Broker) error { return worker.Work(ctx, b, options) })
	}
	must(t, <-ended)
	runs, err := lab.StudyRuns("mine")
	must(t, err)
	promoted := 0
	for _, run := range runs {
		trial := study.TrialOf(run.Payload)
		points, err := lab.Series(run.Hash, store.Key{Series: "epoch", Measure: "sum"})
		must(t, err)
		if n := len(points); run.Status != store.Done || n != trial.Epochs || points[n-1].Value != float64(trial.Epochs*(trial.Epochs+1)/2) {
			t.Errorf("%s is %s with %+v", run.Note, run.Status, points)
		}
		if trial.From != "" {
			promoted++
			if began[run.Hash] == 0 {
				t.Errorf("%s began anew", run.Note)
			}
		}
	}
	if promoted == 0 {
		t.Error("no trial was promoted")
	}
	if source, err := study.SearchOf(store.Study{Name: "mine", Source: f.Source}); err != nil || source.Source != f.Source || !strings.Contains(f.Source, "train.sh") {
		t.Errorf("read back: %v", err)
	}
}
