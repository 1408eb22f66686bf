package powercut_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/powercut"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/upkeep"
)

var must = studytest.Must

// ctx is that of the processes that are recorded.
var ctx = context.Background()

// TestMain lets the test binary play the processes that are recorded.
func TestMain(m *testing.M) {
	defer faulttest.InMemory()()
	faulttest.SideBySide(8)
	faulttest.Main(m, map[string]func([]string) error{"train": roleTrain, "lab": roleLab, "outputs": roleOutputs, "queue": roleQueue, "token": roleToken, "study": roleStudy, "worker": roleWorker})
}

// trained is a run with everything that a run leaves: checkpoints of which one before the last two is kept, features, frames, rows.
func trained() train.Config {
	c := studytest.StepByStep()
	c.Run.Epochs, c.Run.SaveFeatures, c.Run.Keep = 5, "every=2", "every=2"
	return c
}

// promises is a sink that says what package train promises.
type promises struct {
	first int
	to    io.Writer
}

func (p *promises) Started(s train.Started) { p.first = s.FirstEpoch }
func (p *promises) Step(train.StepDone)     {}
func (p *promises) Epoch(e train.EpochDone) { fmt.Fprintln(p.to, "epoch", e.Epoch) }
func (p *promises) Note(string)             {}

// roleTrain computes the run in the lab args[0].
func roleTrain(args []string) error {
	lab, err := store.Open(args[0], store.Options{})
	if err != nil {
		return err
	}
	fmt.Println("opened")
	if _, err := train.Run(ctx, trained(), lab, train.Options{Sink: &promises{to: os.Stdout}}); err != nil {
		return err
	}
	fmt.Println("done")
	return lab.Close()
}

// TestTrainingAfterAPowerCut: what was said to be safe is there, and the run goes on from there to the bytes of an undisturbed one.
func TestTrainingAfterAPowerCut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := powercut.Record(t, root, faulttest.Command("train", filepath.Join(root, "lab")))
	whole := openLab(t, filepath.Join(root, "lab"))
	hash := onlyRun(t, whole)
	want, wantRows := files(t, whole.RunDir(hash)), studytest.Steady(t, whole, hash)
	if len(want) < 20 || len(wantRows) < 1000 {
		t.Fatalf("the run left %d files and %d bytes of rows", len(want), len(wantRows))
	}
	r.Cuts(t, longtest.Of(120, 700), func(t *testing.T, c powercut.Cut) {
		dir := filepath.Join(c.Dir, "lab")
		safe := 0
		if said, ok := c.SaidLast("epoch"); ok {
			fmt.Sscan(said, &safe)
		}
		if _, opened := c.SaidLast("opened"); opened {
			if _, err := os.Stat(filepath.Join(dir, "lab.sqlite")); err != nil {
				t.Fatalf("the lab is gone: %v", err)
			}
		}
		lab := openLab(t, dir)
		if safe > 0 {
			rows, err := lab.RowsAfter(hash, 0)
			must(t, err)
			if len(rows) < safe {
				t.Errorf("the lab has rows of %d epochs, and %d were said to be safe", len(rows), safe)
			}
		}
		sink := &promises{to: io.Discard}
		result, err := train.Run(t.Context(), trained(), lab, train.Options{Sink: sink})
		must(t, err)
		if _, done := c.SaidLast("done"); done != result.AlreadyDone && (done || sink.first > 0) {
			t.Errorf("said to be done: %v; is done: %v", done, result.AlreadyDone)
		}
		if sink.first > 0 && sink.first <= safe {
			t.Errorf("the run goes on with epoch %d, and %d was said to be safe", sink.first, safe)
		}
		sameFiles(t, files(t, lab.RunDir(hash)), want)
		if got := studytest.Steady(t, lab, hash); got != wantRows {
			t.Errorf("other rows: %s", studytest.FirstDifference(got, wantRows))
		}
		if report, err := upkeep.Check(lab.Reader, nil); err != nil || !report.Whole() {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

func openLab(t *testing.T, dir string) *store.Lab {
	t.Helper()
	lab, err := store.Open(dir, store.Options{})
	must(t, err)
	t.Cleanup(func() { lab.Close() })
	return lab
}

func onlyRun(t *testing.T, lab *store.Lab) string {
	t.Helper()
	runs, err := lab.List(store.Filter{})
	must(t, err)
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	return runs[0].Hash
}

// files are all files below a folder.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[strings.TrimPrefix(path, dir+"/")], err = os.ReadFile(path)
		return err
	}))
	return out
}

// sameFiles compares the files of two folders.
func sameFiles(t *testing.T, got, want map[string][]byte) {
	t.Helper()
	for name, content := range want {
		if other, there := got[name]; !there || !bytes.Equal(other, content) {
			t.Errorf("%s has %d bytes (there: %v), and %d without a power cut", name, len(other), there, len(content))
		}
	}
	for name := range got {
		if _, there := want[name]; !there {
			t.Errorf("%s is left over", name)
		}
	}
}
