package forecast

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

// folders is a lab that consists only of run folders.
type folders string

func (f folders) RunDir(hash string) string { return filepath.Join(string(f), hash) }

func (f folders) leave(t *testing.T, hash string, c train.Config) {
	t.Helper()
	must(t, os.MkdirAll(f.RunDir(hash), 0o777))
	must(t, os.WriteFile(filepath.Join(f.RunDir(hash), "config.toml"), []byte(train.PrintConfig(c)), 0o666))
}

// Epochs and sample counts are those of the run that left the configuration, whatever those of others are.
func TestForeseerReadsWhatRunsLeft(t *testing.T) {
	lab := folders(t.TempDir())
	small, large := studytest.Tiny(), studytest.Tiny()
	large.Data.SamplesPerClass *= 2
	lab.leave(t, "small", small)
	lab.leave(t, "large", large)
	foresee := Runs(lab, "")
	for _, c := range []struct {
		hash            string
		epochs, samples int
	}{{"small", 3, small.Data.SamplesPerClass}, {"large", 3, large.Data.SamplesPerClass}, {"small", 5, small.Data.SamplesPerClass}} {
		o, err := foresee(c.hash, c.epochs)
		if want := int64(c.epochs * c.samples * small.Data.Classes); err != nil || o.Trained != want || !(o.FLOP() > 0) {
			t.Errorf("%s, %d epochs: %d samples, wanted %d; %v", c.hash, c.epochs, o.Trained, want, err)
		}
	}
	if _, err := foresee("gone", 3); err == nil || !strings.Contains(err.Error(), "config.toml") {
		t.Errorf("a run without its configuration: %v", err)
	}
}

func TestForeseerFindsDataOfAnotherMachine(t *testing.T) {
	here := os.Getenv("COLLAPSE_DATA")
	if here == "" {
		t.Skip("COLLAPSE_DATA is not set: no folder with mnist")
	}
	lab, c := folders(t.TempDir()), studytest.Tiny()
	c.Data.Name, c.Data.Dir = "mnist", filepath.Join(t.TempDir(), "elsewhere")
	lab.leave(t, "a", c)
	for _, dir := range []string{"", here} {
		if o, err := Runs(lab, dir)("a", 1); err != nil || o.Trained != int64(c.Data.SamplesPerClass*c.Data.Classes) {
			t.Errorf("data in %q: %+v, %v", dir, o, err)
		}
	}
	t.Setenv("COLLAPSE_DATA", "")
	c.Data.Classes++ // of a set that is not open yet
	lab.leave(t, "b", c)
	if _, err := Runs(lab, "")("b", 1); err == nil {
		t.Error("missing data were found")
	}
}
