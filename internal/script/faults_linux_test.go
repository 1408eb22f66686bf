package script

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// broken lets each system call of do fail in turn, after prepare, and wants so many failures told, all with this package's name.
func broken(t *testing.T, what string, least int, prepare func(), do func() error) {
	t.Helper()
	told := 0
	prepare()
	faulttest.EachCall(t, syscall.EIO, do, func(call string, err error) {
		if err != nil && !strings.HasPrefix(err.Error(), "script: ") {
			t.Errorf("%s, %s: %v", what, call, err)
		}
		if errors.Is(err, syscall.EIO) {
			told++
		}
		prepare()
	})
	if told < least {
		t.Errorf("%s: %d failures are told", what, told)
	}
}

// TestEveryFailedCallOnARunsFolderIsTold: removing checkpoints and captures, keeping features, taking over a checkpoint.
func TestEveryFailedCallOnARunsFolderIsTold(t *testing.T) {
	above, n := t.TempDir(), 0
	var j *job
	prepare := func() {
		n++
		dir := rundir.Dir(filepath.Join(above, fmt.Sprint(n)))
		for _, name := range []string{"ckpt/1/state", "ckpt/2/state", "ckpt/3/state", "script/1/captures/1-train/features/0.npy", "script/1/captures/old/features/0.npy"} {
			put(t, filepath.Join(string(dir), filepath.FromSlash(name)), "x")
		}
		j = &job{dir: dir, last: 2, opts: Options{From: strings.Repeat("a", 64)}}
		must(t, os.MkdirAll(dir.Workspaces(), 0o777))
		j.work = &workspace{dir: filepath.Join(dir.Workspaces(), "1"), real: filepath.Join(dir.Workspaces(), "1")}
		put(t, filepath.Join(j.work.dir, "captures", "1-train", "features", "0.npy"), "x")
	}
	broken(t, "removing checkpoints", 3, prepare, func() error { return j.prune() })
	broken(t, "removing a capture", 2, prepare, func() error { return j.work.drop(captures{trainSplit: filepath.Join("captures", "1-train")}) })
	broken(t, "keeping features", 3, prepare, func() error {
		return j.keepFeatures(2, captures{trainSplit: filepath.Join("captures", "1-train")})
	})
	from := rundir.Dir(filepath.Join(above, "theirs"))
	put(t, filepath.Join(from.Checkpoint(7), "state"), "theirs")
	broken(t, "taking over a checkpoint", 3, prepare, func() error { return j.copyCheckpoint(from, 7) })
	if text, err := os.ReadFile(filepath.Join(j.dir.Checkpoint(3), "state")); err != nil || string(text) != "x" {
		t.Errorf("a checkpoint that is later than the reports: %q, %v", text, err)
	}
}

// TestWhereARunBegins: what later epochs left is removed, and where that cannot be done the run does not begin.
func TestWhereARunBegins(t *testing.T) {
	spec, folder := written(t, `checkpoint 1; report 1 0.1; checkpoint 2; report 2 0.2; kill -9 $$`, 3)
	lab := openLab(t, t.TempDir())
	if err := Run(t.Context(), lab, spec, Options{Folder: folder}); err == nil {
		t.Fatal("a script that kills itself is done")
	}
	hash, _, err := spec.Identity()
	must(t, err)
	dir := rundir.Dir(lab.RunDir(hash))
	ckpt, features := dir.CheckpointsDir(), filepath.Dir(dir.Features(3))
	for path, cause := range map[string]string{ckpt: "script: removing checkpoints: ", features: "script: removing features: "} {
		must(t, errors.Join(os.RemoveAll(path+".away"), os.MkdirAll(path, 0o777), os.Rename(path, path+".away")))
		put(t, path, "a file where a folder was")
		_, err := Begin(lab, spec, "")
		says(t, path, err, cause)
		must(t, errors.Join(os.Remove(path), os.Rename(path+".away", path)))
	}
	put(t, filepath.Join(dir.Checkpoint(3), "state"), "of an epoch that was not reported")
	put(t, filepath.Join(dir.Features(3), "train", "features", "0.npy"), "x")
	if epoch, err := Begin(lab, spec, ""); err != nil || epoch != 2 {
		t.Errorf("it begins after epoch %d, %v", epoch, err)
	}
	if list, err := dir.Checkpoints(); err != nil || len(list) != 1 || list[0] != 2 {
		t.Errorf("checkpoints %v stay, %v", list, err)
	}
	if epochs, err := dir.FeatureEpochs(); err != nil || len(epochs) != 0 {
		t.Errorf("features of epochs %v stay, %v", epochs, err)
	}
}

// TestScriptsThatCannotStart: no folder for checkpoints, a command longer than the system takes; the run can be tried again.
func TestScriptsThatCannotStart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Spec)
		cause  string
	}{
		"no folder":      {func(*Spec) {}, "not a directory"},
		"a long command": {func(s *Spec) { s.Command = append(s.Command, strings.Repeat("x", 1<<20)) }, "script: starting /bin/sh: "},
	} {
		spec, folder := written(t, good, 2)
		c.change(&spec)
		lab := openLab(t, t.TempDir())
		hash, _, err := spec.Identity()
		must(t, err)
		if name == "no folder" {
			put(t, rundir.Dir(lab.RunDir(hash)).CheckpointsDir(), "a file")
		}
		err = Run(t.Context(), lab, spec, Options{Folder: folder})
		says(t, name, err, c.cause)
		says(t, name, err, "script: ")
		if run, bad := lab.Run(hash); bad != nil || run.Status != store.Interrupted {
			t.Errorf("%s: the run is %s, %v", name, run.Status, bad)
		}
	}
}

// TestFeaturesToCompareWith: samples from elsewhere alone are measured against nothing.
func TestFeaturesToCompareWith(t *testing.T) {
	_, run, err := ran(t, `mkdir -p captures; d=$(dirname "$COLLAPSE_EVENTS")/captures/1-ood; mkdir -p "$d"
		say "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": 1, \"features\": {\"ood\": \"captures/1-ood\"}}"; finish`, 1, nil)
	says(t, "out-of-distribution samples alone", err, "out-of-distribution samples are measured against train samples, and there is no train")
	if run.Status != store.Failed {
		t.Errorf("the run is %s", run.Status)
	}
}

// TestManyFiles: one more than 10,000 in a pattern, or imported, is refused.
func TestManyFiles(t *testing.T) {
	folder := t.TempDir()
	var imports strings.Builder
	for i := range mostFiles {
		put(t, filepath.Join(folder, fmt.Sprintf("m%d.py", i)), "")
		fmt.Fprintf(&imports, "import m%d\n", i)
	}
	code, err := DigestCode(folder, []string{"m*.py"})
	if err != nil || len(code) != mostFiles {
		t.Errorf("%d files, %v", len(code), err)
	}
	put(t, filepath.Join(folder, "main.py"), imports.String())
	_, err = DigestCode(folder, []string{"m*.py"})
	says(t, "a file more", err, `"m*.py" and the patterns before it name more than 10000 files`)
	_, err = Imports(folder, []string{"main.py"}, false)
	says(t, "imports", err, "main.py imports more than 10000 files")
	put(t, filepath.Join(folder, "main.py"), strings.TrimPrefix(imports.String(), "import m0\n"))
	if found, err := Imports(folder, []string{"main.py"}, false); err != nil || len(found) != mostFiles-1 {
		t.Errorf("%d imports, %v", len(found), err)
	}
}

// TestLaterWithoutFeatures: a run that keeps none says so; one whose features are damaged, or lead elsewhere, names the epoch or the link.
func TestLaterWithoutFeatures(t *testing.T) {
	lab, run, err := ran(t, good, 1, nil)
	must(t, err)
	dir := rundir.Dir(lab.RunDir(run.Hash))
	later := func() error {
		_, err := Later(t.Context(), lab.Reader, run, measure.Options{})
		return err
	}
	var none *train.NothingKeptError
	if err := later(); !errors.As(err, &none) || !strings.Contains(err.Error(), "save_features") {
		t.Errorf("nothing kept: %v", err)
	}
	put(t, filepath.Join(dir.Features(1), "train", "features", "0.npy"), "no array")
	says(t, "damaged", later(), "script: features of epoch 1 of run "+run.Hash[:12])
	must(t, os.Remove(filepath.Join(dir.Features(1), "train", "features", "0.npy")))
	must(t, os.Symlink("/etc", filepath.Join(dir.Features(1), "train", "features", "elsewhere")))
	says(t, "a link", later(), "script: ")
	must(t, os.RemoveAll(filepath.Dir(dir.Features(1))))
	put(t, filepath.Dir(dir.Features(1)), "a file")
	says(t, "no folder", later(), "script: ")
}

// TestCodeWithoutACache: without a home there is no copy, and a run says what is missing; nothing is kept under a wrong name.
func TestCodeWithoutACache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	spec, folder := written(t, good, 1)
	says(t, "without a home", spec.Keep(folder), "script: ")
	if kept := spec.kept(folder); kept != "" {
		t.Errorf("a copy in %q", kept)
	}
	must(t, os.WriteFile(filepath.Join(folder, "train.sh"), []byte("other"), 0o666))
	var changed *ChangedError
	if _, err := spec.codeIn(Options{Folder: folder}); !errors.As(err, &changed) {
		t.Errorf("%v", err)
	}
}
