package upkeep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// long is a run that is under way for some time.
func long(seed uint64) train.Config {
	c := tiny(seed)
	c.Run.Epochs, c.Run.Keep = 60, "last"
	return c
}

// turns lets a run compute some epochs whenever a copy comes to its next step.
type turns struct {
	stopAt
	turn chan struct{}
	quit chan struct{}
}

func (s *turns) Epoch(e train.EpochDone) {
	select {
	case <-s.turn:
	case <-s.quit:
	}
}

// underWay computes runs, each an epoch a turn, until the test lets go of them. It returns once all have started.
func underWay(t *testing.T, lab *store.Lab, configs ...train.Config) (advance func(epochs int), finish func()) {
	t.Helper()
	s := &turns{turn: make(chan struct{}), quit: make(chan struct{})}
	var wg sync.WaitGroup
	for _, c := range configs {
		wg.Go(func() {
			if _, err := train.Run(t.Context(), c, lab, train.Options{Sink: s}); err != nil {
				t.Error(err)
			}
		})
	}
	advance = func(epochs int) {
		for range epochs {
			s.turn <- struct{}{}
		}
	}
	advance(4 * len(configs))
	finish = sync.OnceFunc(func() { close(s.quit); wg.Wait() })
	t.Cleanup(finish)
	return advance, finish
}

// TestACopyOfALabThatIsWrittenIsWhole copies while runs go on between the steps of the copy, by more epochs than checkpoints are kept.
// Nothing is wrong with the copy, its unfinished runs have not lost what they had at the copy's beginning, and end there as they end in
// the original.
func TestACopyOfALabThatIsWrittenIsWhole(t *testing.T) {
	longtest.Only(t)
	lab := newLab(t)
	finished := trained(t, lab, tiny(1)).Run
	configs := []train.Config{long(2), long(3)}
	advance, finish := underWay(t, lab, configs...)
	var copies []*store.Lab
	for range 3 {
		least := map[string]int64{}
		runs, err := lab.List(store.Filter{Statuses: []store.Status{store.Running}})
		must(t, err)
		for _, run := range runs {
			least[run.Hash] = run.LastEpoch
		}
		ahead = func(string) { advance(6) }
		dest := filepath.Join(t.TempDir(), "copy")
		done, err := Copy(t.Context(), lab.Reader, dest)
		must(t, err)
		ahead = func(string) {}
		if done.Runs != 3 || done.Open != 2 || len(done.Restarted) != 0 {
			t.Errorf("%+v", done)
		}
		copies = append(copies, wholeCopy(t, dest, least))
	}
	finish()
	for _, c := range copies {
		for _, config := range configs {
			hash := trained(t, c, config).Run
			if at := difference(content(t, lab.Reader, hash), content(t, c.Reader, hash)); at != "" {
				t.Errorf("%s of run %.12s differs", at, hash)
			}
		}
		if at := difference(content(t, lab.Reader, finished), content(t, c.Reader, finished)); at != "" {
			t.Errorf("%s of the finished run differs", at)
		}
	}
}

// wholeCopy opens a copy and checks it. Runs have checkpoints of the given epochs, or later ones.
func wholeCopy(t *testing.T, dir string, least map[string]int64) *store.Lab {
	t.Helper()
	c, err := store.Open(dir, store.Options{})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	if r, err := Check(c.Reader, nil); err != nil || !r.Whole() || r.Working != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for hash, epoch := range least {
		epochs, err := rundir.Dir(c.RunDir(hash)).Checkpoints()
		must(t, err)
		run, err := c.Run(hash)
		must(t, err)
		if n := len(epochs); n == 0 || int64(epochs[n-1]) < epoch || run.Status != store.Interrupted || run.LastEpoch < epoch {
			t.Errorf("run %.12s, at epoch %d when the copy began, has checkpoints %v, rows up to %d, is %s", hash, epoch, epochs, run.LastEpoch, run.Status)
		}
	}
	return c
}

// TestACopyWhileRunsComeAndGo removes a run, starts one over, without finishing it, and finishes one while the lab is copied.
func TestACopyWhileRunsComeAndGo(t *testing.T) {
	longtest.Only(t)
	for _, when := range []string{"checkpoints", "database", "folders"} {
		lab := newLab(t)
		gone, again := trained(t, lab, tiny(1)).Run, trained(t, lab, tiny(2)).Run
		ends := stopped(t, lab, tiny(3), 5)
		ahead = func(step string) {
			if step != when {
				return
			}
			must(t, lab.Remove(gone))
			trained(t, lab, tiny(3))
			halfway(t, lab, tiny(2), 3, train.Options{Again: true})
			trained(t, lab, tiny(4)) // a new one
		}
		dest := filepath.Join(t.TempDir(), "copy")
		_, err := Copy(t.Context(), lab.Reader, dest)
		must(t, err)
		ahead = func(string) {}
		c := wholeCopy(t, dest, nil)
		if _, err := c.Run(gone); err == nil != (when == "folders") {
			t.Errorf("%s: the removed run: %v", when, err)
		}
		trained(t, lab, tiny(2))
		for seed, hash := range map[uint64]string{2: again, 3: ends} {
			trained(t, c, tiny(seed))
			if at := difference(content(t, lab.Reader, hash), content(t, c.Reader, hash)); at != "" {
				t.Errorf("%s: %s of seed %d differs", when, at, seed)
			}
		}
		if r, err := Check(c.Reader, nil); err != nil || !r.Whole() {
			t.Errorf("%s: %+v, %v", when, r, err)
		}
	}
}

func TestACopyNeedsAFolderOfItsOwn(t *testing.T) {
	lab := newLab(t)
	trained(t, lab, tiny(1))
	dest := t.TempDir() // an empty one will do
	_, err := Copy(t.Context(), lab.Reader, dest)
	must(t, err)
	wholeCopy(t, dest, nil)
	if _, err := Copy(t.Context(), lab.Reader, dest); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("over a lab: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, []byte("mine"), 0o666))
	if _, err := Copy(t.Context(), lab.Reader, file); err == nil {
		t.Error("over a file")
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "mine" {
		t.Errorf("%q, %v", b, err)
	}
	ctx, stop := withStop(t.Context())
	ahead = func(string) { stop() }
	defer func() { ahead = func(string) {} }()
	parent := t.TempDir()
	if _, err := Copy(ctx, lab.Reader, filepath.Join(parent, "cut")); err == nil {
		t.Error("a copy that was stopped says nothing")
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// TestACopyLeavesOutWhatIsNoneOfARun puts files that are arriving, half-written or no files at all into the folders of a finished and of
// an unfinished run: the copy has the rest.
func TestACopyLeavesOutWhatIsNoneOfARun(t *testing.T) {
	lab := newLab(t)
	runs := []string{trained(t, lab, tiny(1)).Run, stopped(t, lab, tiny(2), 5)}
	var want []map[string]string
	for _, hash := range runs {
		want = append(want, content(t, lab.Reader, hash))
		at := func(name string) string { return filepath.Join(lab.RunDir(hash), name) }
		for _, name := range []string{"g3/ckpt/5/model.safetensors", ".hidden/x", "frames/.hidden", "frames/8.npz.tmp"} {
			must(t, errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o777), os.WriteFile(at(name), []byte("half"), 0o666)))
		}
		if err := os.Symlink(".", at("loop")); err != nil {
			t.Skip(err)
		}
		must(t, os.Chmod(at("config.toml"), 0o444))
	}
	dest := filepath.Join(t.TempDir(), "copy")
	_, err := Copy(t.Context(), lab.Reader, dest)
	must(t, err)
	c := wholeCopy(t, dest, nil)
	for i, hash := range runs {
		if at := difference(want[i], content(t, c.Reader, hash)); at != "" {
			t.Errorf("run %d: %s differs", i, at)
		}
		if info, err := os.Stat(filepath.Join(c.RunDir(hash), "config.toml")); err != nil || info.Mode().Perm()&0o200 == 0 {
			t.Errorf("run %d: the configuration cannot be replaced: %v, %v", i, info.Mode(), err)
		}
		if loop, err := os.Lstat(filepath.Join(c.RunDir(hash), "loop")); err == nil {
			t.Errorf("run %d: a link to a folder became %v", i, loop.Mode())
		}
	}
}

// TestACopyOfARunThatWentBack has checkpoints when an unfinished run loses rows, is repaired, or starts over: the copy keeps none that its
// rows do not reach, and the run ends there as it ends in the original.
func TestACopyOfARunThatWentBack(t *testing.T) {
	for name, back := range map[string]func(lab *store.Lab, hash string){
		"repaired": func(lab *store.Lab, hash string) {
			exec(t, lab, "DELETE FROM value"+ofRun+"step > 5", hash)
			found, err := Check(lab.Reader, []string{hash})
			must(t, err)
			_, _, err = Repair(lab, found)
			must(t, err)
		},
		"started over":              func(lab *store.Lab, _ string) { halfway(t, lab, tiny(1), 3, train.Options{Again: true}) },
		"started over, and further": func(lab *store.Lab, _ string) { halfway(t, lab, tiny(1), 11, train.Options{Again: true}) },
	} {
		lab := newLab(t)
		hash := stopped(t, lab, tiny(1), 9)
		ahead = func(step string) {
			if step == "checkpoints" {
				back(lab, hash)
			}
		}
		dest := filepath.Join(t.TempDir(), "copy")
		_, err := Copy(t.Context(), lab.Reader, dest)
		ahead = func(string) {}
		must(t, err)
		c := wholeCopy(t, dest, nil)
		epochs, err := rundir.Dir(c.RunDir(hash)).Checkpoints()
		must(t, err)
		if run, err := c.Run(hash); err != nil || len(epochs) > 0 && int64(slices.Max(epochs)) > run.LastEpoch || name != "repaired" && len(epochs) > 0 {
			t.Errorf("%s: the copy has checkpoints %v, rows up to %d (%v)", name, epochs, run.LastEpoch, err)
		}
		trained(t, lab, tiny(1))
		trained(t, c, tiny(1))
		if at := difference(content(t, lab.Reader, hash), content(t, c.Reader, hash)); at != "" {
			t.Errorf("%s: %s differs", name, at)
		}
	}
}

// TestACopyHasNoHalfCheckpoints: a checkpoint of which a file is gone when its turn comes, as a link that leads nowhere is, is left out.
func TestACopyHasNoHalfCheckpoints(t *testing.T) {
	lab := newLab(t)
	hash := stopped(t, lab, tiny(1), 6)
	at := func(lab *store.Lab) rundir.Dir { return rundir.Dir(lab.RunDir(hash)) }
	epochs, err := at(lab).Checkpoints()
	must(t, err)
	if len(epochs) < 2 {
		t.Fatalf("checkpoints %v: nothing is tested", epochs)
	}
	if err := os.Symlink("gone", filepath.Join(at(lab).Checkpoint(epochs[0]), "x")); err != nil {
		t.Skip(err)
	}
	dest := filepath.Join(t.TempDir(), "copy")
	_, err = Copy(t.Context(), lab.Reader, dest)
	must(t, err)
	var got []string
	entries, err := os.ReadDir(at(wholeCopy(t, dest, nil)).CheckpointsDir())
	must(t, err)
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := fmt.Sprint(epochs[1:]); fmt.Sprint(got) != want {
		t.Errorf("the copy has checkpoints %v, want %s", got, want)
	}
}

// TestACopyFollowsLinks copies to an empty private folder by way of a link: both stay what they are.
func TestACopyFollowsLinks(t *testing.T) {
	lab := newLab(t)
	trained(t, lab, tiny(1))
	dir := t.TempDir()
	real, link, dangling := filepath.Join(dir, "real"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	must(t, os.Mkdir(real, 0o700))
	if err := errors.Join(os.Symlink("real", link), os.Symlink("gone", dangling)); err != nil {
		t.Skip(err)
	}
	_, err := Copy(t.Context(), lab.Reader, link)
	must(t, err)
	wholeCopy(t, real, nil)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v (%v)", info.Mode(), err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
		t.Errorf("the folder's mode is %v (%v), want 0700 as before", info.Mode(), err)
	}
	for _, dest := range []string{dangling, filepath.Join(dangling, "below")} {
		if _, err := Copy(t.Context(), lab.Reader, dest); err == nil || !strings.Contains(err.Error(), "a link to a folder that does not exist") {
			t.Errorf("%s: %v, want that its link leads nowhere", dest, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

// TestACopyLiesOutsideTheLab: within the lab it would be swept away as files of no run.
func TestACopyLiesOutsideTheLab(t *testing.T) {
	lab := newLab(t)
	trained(t, lab, tiny(1))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(lab.Dir(), link); err != nil {
		link = lab.Dir()
	}
	for _, dest := range []string{filepath.Join(lab.Dir(), "copy"), filepath.Join(lab.Dir(), "runs", "new", "copy"), filepath.Join(link, "copy"), lab.Dir() + "/runs/../copy"} {
		if _, err := Copy(t.Context(), lab.Reader, dest); err == nil || !strings.Contains(err.Error(), "lies in the lab") {
			t.Errorf("%s: %v, want a refusal", dest, err)
		}
	}
	linked, err := store.OpenReader(link)
	must(t, err)
	defer linked.Close()
	if _, err := Copy(t.Context(), linked, filepath.Join(lab.Dir(), "copy")); err == nil || !strings.Contains(err.Error(), "lies in the lab") {
		t.Errorf("of a lab that is named by a link: %v, want a refusal", err)
	}
	_, err = Copy(t.Context(), lab.Reader, lab.Dir()+"-copy")
	must(t, err)
	must(t, os.RemoveAll(lab.Dir()+"-copy"))
}

// TestMain lets the test binary play a process that copies a lab until it is killed.
func TestMain(m *testing.M) {
	defer faulttest.InMemory()()
	faulttest.Main(m, map[string]func([]string) error{"copy": func(args []string) error {
		r, err := store.OpenReader(args[0])
		if err != nil {
			return err
		}
		ahead = func(step string) {
			os.Stdout.WriteString("step " + step + "\n")
			if step == args[2] {
				select {}
			}
		}
		_, err = Copy(context.Background(), r, args[1])
		return err
	}})
}

// TestACopyThatWasKilledIsNoLab kills the copying process at each of its steps.
func TestACopyThatWasKilledIsNoLab(t *testing.T) {
	lab := newLab(t)
	trained(t, lab, tiny(1))
	for _, step := range []string{"checkpoints", "database", "folders"} {
		parent := t.TempDir()
		dest := filepath.Join(parent, "copy")
		cmd, out := faulttest.Play(t, "copy", lab.Dir(), dest, step)
		faulttest.Heard(t, out, "step "+step)
		must(t, cmd.Process.Kill())
		cmd.Wait()
		if _, err := os.Stat(dest); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", step, err)
		}
		left, err := os.ReadDir(parent)
		must(t, err)
		for _, e := range left {
			if _, err := store.OpenReader(filepath.Join(parent, e.Name())); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s opens as a lab: %v", step, e.Name(), err)
			}
		}
		_, err = Copy(t.Context(), lab.Reader, dest)
		must(t, err)
		wholeCopy(t, dest, nil)
		if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
			t.Errorf("%s: after another copy there is %v, %v", step, left, err)
		}
	}
}

// TestACopyOfRows has the numbers of finished runs and nothing beside them; nothing is missed there, what is longer begins anew, and an unfinished
// run begins at its start.
func TestACopyOfRows(t *testing.T) {
	lab := newLab(t)
	finished, begun := trained(t, lab, tiny(1)).Run, stopped(t, lab, tiny(2), 1)
	dest := filepath.Join(t.TempDir(), "copy")
	done, err := CopyRows(t.Context(), lab.Reader, dest)
	must(t, err)
	if done.Runs != 2 || done.Open != 1 || len(done.Restarted) != 0 {
		t.Errorf("%+v", done)
	}
	c := wholeCopy(t, dest, nil)
	entries, err := os.ReadDir(c.RunDir(finished))
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != "config.toml rows-only" {
		t.Errorf("%q", names)
	}
	rows, err := lab.Values(finished)
	must(t, err)
	if got, err := c.Values(finished); err != nil || len(rows) == 0 || !slices.Equal(got, rows) {
		t.Errorf("%d values of %d, %v", len(got), len(rows), err)
	}
	if run, err := c.Run(begun); err != nil || run.Status != store.Pending || run.LastEpoch != 0 {
		t.Errorf("%+v, %v", run, err)
	}
	if hash := trained(t, c, tiny(2)).Run; hash != begun {
		t.Errorf("another run: %s", hash)
	}
	longer := tiny(1)
	longer.Run.Epochs++
	if at := difference(content(t, lab.Reader, trained(t, lab, longer).Run), content(t, c.Reader, trained(t, c, longer).Run)); at != "" {
		t.Errorf("%s of a longer run differs", at)
	}
}
