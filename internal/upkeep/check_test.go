package upkeep

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tiny is a run of a moment that leaves every sort of file.
func tiny(seed uint64) train.Config {
	c := train.Default()
	c.Data.Name, c.Data.SamplesPerClass, c.Data.TestSamplesPerClass, c.Data.Pipeline = "glyphs", 20, 10, "plain"
	c.Net.Depth, c.Net.Width = 1, 8
	c.Run.Epochs, c.Run.Batch, c.Run.Seed, c.Run.MeasureEvery = 12, 20, seed, 2
	c.Run.Keep, c.Run.SaveFeatures, c.Run.CheckpointEvery = "every=4", "every=4", 1
	return c
}

func newLab(t *testing.T) *store.Lab {
	t.Helper()
	lab, err := store.Open(filepath.Join(t.TempDir(), "lab"), store.Options{})
	must(t, err)
	t.Cleanup(func() { lab.Close() })
	return lab
}

// trained computes a run to its end.
func trained(t *testing.T, lab *store.Lab, c train.Config) train.Result {
	t.Helper()
	r, err := train.Run(t.Context(), c, lab, train.Options{})
	must(t, err)
	return r
}

// content is all that a run must hold: its rows without times, and its files by name. Of the settings, which are beside the identity,
// only the names count.
func content(t *testing.T, lab *store.Reader, hash string) map[string]string {
	t.Helper()
	all := map[string]string{}
	values, err := lab.Values(hash)
	must(t, err)
	for _, v := range values {
		if v.Measure != "images_per_s" && v.Key != train.SpentKey {
			all[fmt.Sprint(v.Key, v.Step)] = fmt.Sprint(v.Value, v.Missing)
		}
	}
	dir := lab.RunDir(hash)
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[rel] = string(b)
		return err
	}))
	return all
}

// difference names something that two runs do not have alike, "" if there is nothing.
func difference(a, b map[string]string) string {
	for k := range a {
		if a[k] != b[k] {
			return k
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			return k
		}
	}
	return ""
}

func exec(t *testing.T, lab *store.Lab, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(lab.Dir(), "lab.sqlite"))
	must(t, err)
	_, err = db.Exec(query, args...)
	must(t, errors.Join(err, db.Close()))
}

const ofRun = " WHERE run = (SELECT id FROM run WHERE hash = ?) AND "

// damages are things that can be wrong with a finished run, and what the check must say.
var damages = []struct {
	name, says string
	from       int // checkpoint that the run goes on from
	do         func(t *testing.T, lab *store.Lab, hash string)
}{
	{"a gap in the rows", "rows of epochs 5–7 are missing", 4, func(t *testing.T, lab *store.Lab, hash string) {
		exec(t, lab, "DELETE FROM value"+ofRun+"step BETWEEN 5 AND 7", hash)
	}},
	{"no rows at all", "rows of epochs 1–12 are missing", 0, func(t *testing.T, lab *store.Lab, hash string) {
		exec(t, lab, "DELETE FROM value"+ofRun+"true", hash)
	}},
	{"measures of one epoch", "rows of epochs 6 are missing", 4, func(t *testing.T, lab *store.Lab, hash string) {
		exec(t, lab, "DELETE FROM value"+ofRun+"step = 6 AND series IN (SELECT id FROM series WHERE split = 'test')", hash)
	}},
	{"one measure of one epoch", "rows of some measures are missing in epochs 10", 8, func(t *testing.T, lab *store.Lab, hash string) {
		exec(t, lab, "DELETE FROM value"+ofRun+"step = 10 AND series IN (SELECT id FROM series WHERE split = 'train' AND measure = 'nc1_pinv')", hash)
	}},
	{"an infinite value", "1 values are infinite, the first in epoch 6", 4, func(t *testing.T, lab *store.Lab, hash string) {
		exec(t, lab, "UPDATE value SET value = 9e999"+ofRun+"step = 6 AND series IN (SELECT id FROM series WHERE split = 'train' AND measure = 'nc1_pinv')", hash)
	}},
	{"a loss that is none", "train loss of epoch 4 is not a number: lost", 4, func(t *testing.T, lab *store.Lab, hash string) {
		exec(t, lab, "UPDATE value SET value = NULL, missing = 'lost'"+ofRun+"step = 4 AND series IN (SELECT id FROM series WHERE split = 'train' AND measure = 'loss')", hash)
	}},
	{"no folder", "its folder is missing", 0, func(t *testing.T, lab *store.Lab, hash string) { must(t, os.RemoveAll(lab.RunDir(hash))) }},
	{"no last checkpoint", "checkpoint 12, its last, is missing", 11, remove("ckpt/12")},
	{"no checkpoint", "checkpoint 12, its last, is missing", 0, remove("ckpt")},
	{"a bit of a checkpoint", "checkpoint 12 is damaged or incomplete: model.safetensors: its content", 11, flip("ckpt/12/model.safetensors")},
	{"half a checkpoint", "checkpoint 12 is damaged or incomplete: optim.safetensors is missing", 11, remove("ckpt/12/optim.safetensors")},
	{"no state", "checkpoint 12 is damaged or incomplete: state.json is missing", 11, remove("ckpt/12/state.json")},
	{"no features at the end", "features.npz", 12, remove("features.npz")},
	{"half of the features at the end", "features.npz", 12, cut("features.npz")},
	{"no frame", "frames of epochs 6 are missing", 4, remove("frames/6.npz")},
	{"half a frame", "frames of epochs 2 are missing", 0, cut("frames/2.npz")},
	{"no frames", "frames of epochs 2, 4, 6, 8, 10, 12 are missing", 0, remove("frames")},
	{"no saved features", "features (run.save_features) of epochs 8 are missing", 4, remove("features/8")},
	{"half of the saved features", "features (run.save_features) of epochs 8 are missing", 4, cut("features/8/train-0.safetensors")},
	{"no configuration", "config.toml is missing", 12, remove("config.toml")},
}

func remove(name string) func(*testing.T, *store.Lab, string) {
	return func(t *testing.T, lab *store.Lab, hash string) {
		must(t, os.RemoveAll(filepath.Join(lab.RunDir(hash), name)))
	}
}

func cut(name string) func(*testing.T, *store.Lab, string) {
	return func(t *testing.T, lab *store.Lab, hash string) {
		path := filepath.Join(lab.RunDir(hash), name)
		info, err := os.Stat(path)
		must(t, err)
		must(t, os.Truncate(path, info.Size()/2))
	}
}

func flip(name string) func(*testing.T, *store.Lab, string) {
	return func(t *testing.T, lab *store.Lab, hash string) {
		path := filepath.Join(lab.RunDir(hash), name)
		b, err := os.ReadFile(path)
		must(t, err)
		b[len(b)-1] ^= 4
		must(t, os.WriteFile(path, b, 0o666))
	}
}

// TestWhatIsWrongIsFoundAndPutRight damages a finished run in every way: the check says how, the repair opens the run without touching
// right rows, and computing it again ends where it was.
func TestWhatIsWrongIsFoundAndPutRight(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	hash := trained(t, lab, tiny(1)).Run
	other := trained(t, lab, tiny(2)).Run
	want, beside := content(t, lab.Reader, hash), content(t, lab.Reader, other)
	if r, err := Check(lab.Reader, nil); err != nil || !r.Whole() || r.Checked != 2 {
		t.Fatalf("of a whole lab: %+v, %v", r, err)
	}
	for _, d := range damages {
		d.do(t, lab, hash)
		found, err := Check(lab.Reader, nil)
		must(t, err)
		if len(found.Runs) != 1 || found.Runs[0].Run.Hash != hash || !strings.Contains(strings.Join(found.Runs[0].Wrong, "\n"), d.says) {
			t.Errorf("%s: found %+v; wanted %q", d.name, found.Runs, d.says)
		}
		rows, err := lab.Values(hash)
		must(t, err)
		repaired, _, err := Repair(lab, found)
		must(t, err)
		if len(repaired) != 1 || repaired[0].Err != nil || len(repaired[0].Did) == 0 {
			t.Errorf("%s: repaired %+v", d.name, repaired)
			continue
		}
		if now, err := lab.Values(hash); err != nil || len(now) != len(rows) {
			t.Errorf("%s: the repair left %d of %d rows, %v", d.name, len(now), len(rows), err)
		}
		if r, err := Check(lab.Reader, nil); err != nil || !r.Whole() {
			t.Errorf("%s: after the repair %+v, %v", d.name, r, err)
		}
		if run, err := lab.Run(hash); err != nil || run.Status != store.Interrupted {
			t.Errorf("%s: %s, %v", d.name, run.Status, err)
		}
		started := &firstEpoch{}
		_, err = train.Run(t.Context(), tiny(1), lab, train.Options{Sink: started})
		must(t, err)
		if started.first-1 != d.from {
			t.Errorf("%s: goes on from checkpoint %d, wanted %d", d.name, started.first-1, d.from)
		}
		if at := difference(want, content(t, lab.Reader, hash)); at != "" {
			t.Errorf("%s: computed again, %s differs", d.name, at)
		}
	}
	if at := difference(beside, content(t, lab.Reader, other)); at != "" {
		t.Errorf("%s of the other run differs", at)
	}
}

// firstEpoch notes where a run starts.
type firstEpoch struct{ first int }

func (f *firstEpoch) Started(e train.Started) { f.first = e.FirstEpoch }
func (*firstEpoch) Step(train.StepDone)       {}
func (*firstEpoch) Epoch(train.EpochDone)     {}
func (*firstEpoch) Note(string)               {}

// stopped computes a run up to an epoch.
func stopped(t *testing.T, lab *store.Lab, c train.Config, epoch int) string {
	t.Helper()
	return halfway(t, lab, c, epoch, train.Options{})
}

func halfway(t *testing.T, lab *store.Lab, c train.Config, epoch int, o train.Options) string {
	t.Helper()
	s := &stopAt{epoch: epoch}
	ctx := t.Context()
	ctx, s.stop = withStop(ctx)
	o.Sink = s
	r, err := train.Run(ctx, c, lab, o)
	var interrupted *train.InterruptedError
	if !errors.As(err, &interrupted) {
		t.Fatalf("%v", err)
	}
	return r.Run
}

// TestACheckpointAheadOfTheRows is found and dropped: going on from it would leave a gap.
func TestACheckpointAheadOfTheRows(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	hash := stopped(t, lab, tiny(1), 10)
	if r, err := Check(lab.Reader, nil); err != nil || !r.Whole() || r.Checked != 1 {
		t.Fatalf("of a run that was stopped: %+v, %v", r, err)
	}
	exec(t, lab, "DELETE FROM value"+ofRun+"step = 10", hash) // as a kill between checkpoint and rows leaves it
	if r, err := Check(lab.Reader, nil); err != nil || !r.Whole() {
		t.Fatalf("of a run that was killed: %+v, %v", r, err)
	}
	exec(t, lab, "DELETE FROM value"+ofRun+"step > 5", hash)
	found, err := Check(lab.Reader, []string{hash})
	must(t, err)
	if len(found.Runs) != 1 || !strings.Contains(strings.Join(found.Runs[0].Wrong, "\n"), "checkpoint 10 is ahead of the rows") {
		t.Fatalf("%+v", found)
	}
	_, _, err = Repair(lab, found)
	must(t, err)
	if got := fmt.Sprint(must1(rundir.Dir(lab.RunDir(hash)).Checkpoints())(t)); got != "[4]" {
		t.Errorf("checkpoints %s", got)
	}
	trained(t, lab, tiny(1))
	whole := newLab(t)
	trained(t, whole, tiny(1))
	if at := difference(content(t, whole.Reader, hash), content(t, lab.Reader, hash)); at != "" {
		t.Errorf("%s differs", at)
	}
}

func must1[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T { t.Helper(); must(t, err); return v }
}

func TestLeftoversAreFoundAndDeleted(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	hash := trained(t, lab, tiny(1)).Run
	want := content(t, lab.Reader, hash)
	for _, name := range []string{"ckpt/.gone/x", "ckpt/.tmp/x", "g17/x", "features/.tmp/x", "frames/2.npz.tmp/x", "ckpt/7/x"} {
		must(t, os.MkdirAll(filepath.Join(lab.RunDir(hash), name), 0o777))
	}
	must(t, os.Rename(filepath.Join(lab.RunDir(hash), "ckpt", "7"), filepath.Join(lab.Dir(), "runs", strings.Repeat("a", 64))))
	must(t, os.CopyFS(filepath.Join(lab.RunDir(hash), "ckpt", "9"), os.DirFS(filepath.Join(lab.RunDir(hash), "ckpt", "11"))))
	state := filepath.Join(lab.RunDir(hash), "ckpt", "9", "state.json")
	b, err := os.ReadFile(state)
	must(t, err)
	must(t, os.WriteFile(state, []byte(strings.ReplaceAll(string(b), `"epoch": 11`, `"epoch": 9`)), 0o666))
	found, err := Check(lab.Reader, nil)
	must(t, err)
	if len(found.Left) != 1 || len(found.Runs) != 1 || len(found.Runs[0].Wrong) < 6 {
		t.Fatalf("%+v", found)
	}
	_, _, err = Repair(lab, found)
	must(t, err)
	if run, err := lab.Run(hash); err != nil || run.Status == store.Interrupted && found.Runs[0].Reopens() == false {
		t.Errorf("%s, %v", run.Status, err)
	}
	trained(t, lab, tiny(1))
	if r, err := Check(lab.Reader, nil); err != nil || !r.Whole() {
		t.Errorf("%+v, %v", r, err)
	}
	if at := difference(want, content(t, lab.Reader, hash)); at != "" {
		t.Errorf("%s differs", at)
	}
}

// TestLeftoversAloneDoNotReopenARun: a finished run that has all it needs stays finished when what is left over goes.
func TestLeftoversAloneDoNotReopenARun(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	hash := trained(t, lab, tiny(1)).Run
	want := content(t, lab.Reader, hash)
	must(t, os.MkdirAll(filepath.Join(lab.RunDir(hash), "ckpt", ".gone", "x"), 0o777))
	found, err := Check(lab.Reader, nil)
	must(t, err)
	if len(found.Runs) != 1 || found.Runs[0].Reopens() || !strings.Contains(strings.Join(found.Runs[0].Wrong, "\n"), "is left over") {
		t.Fatalf("%+v", found)
	}
	repaired, _, err := Repair(lab, found)
	must(t, err)
	if len(repaired) != 1 || repaired[0].Err != nil || !strings.Contains(strings.Join(repaired[0].Did, "\n"), ".gone is gone") {
		t.Errorf("repaired %+v", repaired)
	}
	if r, err := Check(lab.Reader, nil); err != nil || !r.Whole() {
		t.Errorf("after the repair %+v, %v", r, err)
	}
	if run, err := lab.Run(hash); err != nil || run.Status != store.Done {
		t.Errorf("%s, %v", run.Status, err)
	}
	if at := difference(want, content(t, lab.Reader, hash)); at != "" {
		t.Errorf("%s differs", at)
	}
	if _, err := os.Stat(filepath.Join(lab.RunDir(hash), "ckpt", ".gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestARunUnderWayIsPassedOver does not call wrong what is only unfinished.
func TestARunUnderWayIsPassedOver(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	s := &stopAt{epoch: 6}
	ctx := t.Context()
	ctx, s.stop = withStop(ctx)
	s.look = func() {
		r, err := Check(lab.Reader, nil)
		if err != nil || !r.Whole() || r.Working != 1 || r.Checked != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		runs, err := lab.List(store.Filter{})
		must(t, err)
		repaired, _, err := Repair(lab, Report{Runs: []Found{{Run: runs[0], Wrong: []string{"something"}}}})
		if err != nil || len(repaired) != 1 || repaired[0].Err == nil || !strings.Contains(repaired[0].Err.Error(), "a process works on it") || len(repaired[0].Did) != 0 {
			t.Errorf("repaired %+v, %v", repaired, err)
		}
	}
	if _, err := train.Run(ctx, tiny(1), lab, train.Options{Sink: s}); err == nil || s.looks != 6 {
		t.Errorf("%v after %d looks", err, s.looks)
	}
}
