package export

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/tensorboard/tensorboardtest"
)

// eventsIn reads the one event file of every folder of dir.
func eventsIn(t *testing.T, dir string) map[string][]tensorboardtest.Event {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	must(t, err)
	out := map[string][]tensorboardtest.Event{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(t, err)
		folder := filepath.Base(filepath.Dir(f))
		if out[folder] != nil || !strings.Contains(filepath.Base(f), "tfevents") {
			t.Errorf("%s holds %s as well", folder, filepath.Base(f))
		}
		out[folder], err = tensorboardtest.Read(b)
		must(t, err)
	}
	return out
}

// Every value of the lab is in the event file of its run, under its tag and epoch, and exporting again changes nothing; exporting fewer runs
// removes the others, and nothing of the user's.
func TestEventFilesHoldTheLab(t *testing.T) {
	configs := studytest.SmallGrid()[:2]
	configs[0].Run.Taps, configs[1].Run.Taps = "stages", "stages"
	lab := studytest.Saved(t, configs)
	if _, err := coordinator.Execute(t.Context(), lab, []string{"s"}, coordinator.Options{Slots: 2, Threads: 2, Queue: studytest.QuickQueue(), Logf: t.Logf}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	runs, err := Select(lab.Reader, []string{"s", studytest.Items(t, configs)[0].Hash[:12]}) // one of them twice
	must(t, err)
	for range 2 {
		n, err := TensorBoard(lab.Reader, runs, outfile.At(dir, EventsKind))
		missing := 0
		for _, r := range runs[:2] {
			values, err := lab.Values(r.Hash)
			must(t, err)
			for _, v := range values {
				if v.Missing != "" {
					missing++
				}
			}
		}
		if err != nil || n.Runs != 2 || n.Values < 100 || n.Missing != missing || missing == 0 || len(runs) != 3 {
			t.Fatalf("%+v, %v; %d missing", n, err, missing)
		}
	}
	found := eventsIn(t, dir)
	for _, r := range runs[:2] {
		events := found[folderName(r)]
		if len(events) == 0 || events[0].Version != "brain.Event:2" || !strings.Contains(folderName(r), "seed") {
			t.Fatalf("%s: %d events; there are %d folders", folderName(r), len(events), len(found))
		}
		byStep, before := map[int64]tensorboardtest.Event{}, events[0].Wall
		for _, e := range events[1:] {
			byStep[e.Step] = e
			if e.Wall < before || e.Wall > float64(r.Finished.UnixMilli())/1e3+1e-3 || e.Wall < float64(r.Started.UnixMilli())/1e3-1e-3 {
				t.Errorf("epoch %d at %f, after %f", e.Step, e.Wall, before)
			}
			before = e.Wall
		}
		values, err := lab.Values(r.Hash)
		must(t, err)
		counted, layers := 0, 0
		for _, v := range values {
			if v.Missing != "" {
				continue
			}
			tag := v.Split + "/" + v.Measure
			if v.Split == "" {
				tag = v.Measure
			}
			if v.Layer != "" {
				tag, layers = v.Split+"@"+v.Layer+"/"+v.Measure, layers+1
			}
			if v.Series != "epoch" {
				tag = v.Series + "/" + tag
			}
			got, ok := byStep[v.Step].Values[tag]
			if !ok || got != float32(v.Value) {
				t.Errorf("%s at epoch %d is %g (%v), wanted %g", tag, v.Step, got, ok, v.Value)
			}
			counted++
		}
		for _, e := range events[1:] {
			counted -= len(e.Values)
		}
		if _, ok := byStep[1].Values["train/nc1_pinv"]; counted != 0 || layers == 0 || !ok {
			t.Errorf("%d values of the lab are not in the file; %d of layers; train/nc1_pinv %v", counted, layers, ok)
		}
	}
	own := filepath.Join(dir, folderName(runs[1]), "notes.txt")
	must(t, os.WriteFile(own, []byte("mine"), 0o600))
	if n, err := TensorBoard(lab.Reader, runs[:1], outfile.At(dir, EventsKind)); err != nil || n.Runs != 1 {
		t.Fatalf("%+v, %v", n, err)
	}
	must(t, os.Remove(own)) // it was not touched, and is alone in its folder
	must(t, os.Remove(filepath.Dir(own)))
	if found := eventsIn(t, dir); len(found) != 1 || len(found[folderName(runs[0])]) == 0 {
		t.Errorf("%d folders, wanted that of the one run that was exported again", len(found))
	}
	if _, err := TensorBoard(lab.Reader, nil, outfile.At(dir, EventsKind)); err == nil || len(eventsIn(t, dir)) != 1 {
		t.Errorf("an export without values: %v, %d folders", err, len(eventsIn(t, dir)))
	}
}

func TestFolderNamesOfRuns(t *testing.T) {
	hash := strings.Repeat("0123456789abcdef", 4)
	for note, want := range map[string]string{
		"loss mse, seed 2":       "loss_mse__seed_2-0123456789ab",
		"../../etc":              "_.._etc-0123456789ab",
		"":                       "train-0123456789ab",
		strings.Repeat("η", 300): strings.Repeat("η", 80) + "-0123456789ab",
	} {
		r := Selected{StudyRun: store.StudyRun{Hash: hash, Kind: store.Train, Note: note}}
		if got := folderName(r); got != want {
			t.Errorf("%q: %q, wanted %q", note, got, want)
		}
	}
}

// A run that has not ended has no time span to spread its epochs over: they are all at its start.
func TestWallTimesOfARunUnderWay(t *testing.T) {
	begin := time.UnixMilli(1763740000123)
	rows := []store.Value{{Key: store.Key{Series: "epoch", Split: "train", Measure: "loss"}, Step: 3, Value: 1},
		{Key: store.Key{Series: "iteration", Measure: "objective"}, Step: 0, Value: 2}}
	dir := t.TempDir()
	must(t, outfile.At(dir, EventsKind).Write(func(files *outfile.Files) error {
		return writeEvents(files.Below("a"), store.Run{Created: begin.Add(-time.Hour), Started: begin}, rows)
	}))
	events := eventsIn(t, dir)["a"]
	if len(events) != 3 || events[1].Step != 0 || events[2].Step != 3 || events[1].Values["iteration/objective"] != 2 || events[2].Values["train/loss"] != 1 {
		t.Fatalf("%+v", events)
	}
	for _, e := range events {
		if e.Wall != 1763740000.123 {
			t.Errorf("step %d at %f", e.Step, e.Wall)
		}
	}
}
