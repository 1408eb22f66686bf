package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/measure"
)

func TestEpochsToSave(t *testing.T) {
	for text, want := range map[string][]int{"none": nil, "last": {6}, "all": {1, 2, 3, 4, 5, 6}, "every=2": {2, 4, 6}, "1, 4": {1, 4}, "9": nil} {
		rule, err := parseEpochs(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for e := 1; e <= 6; e++ {
			if rule.holds(e, 6) {
				got = append(got, e)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: epochs %v, wanted %v", text, got, want)
		}
	}
	for _, text := range []string{"some", "0", "1,,2", "-3", "every=0", "1;2"} {
		c := tinyConfig()
		c.Run.SaveFeatures = text
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), "run.save_features: is") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestSavedFeaturesAreMeasuredAlike reads the files as `collapse measure` does and finds the run's own rows.
func TestSavedFeaturesAreMeasuredAlike(t *testing.T) {
	for _, name := range []string{"tapped", "training pass"} {
		c := variant(t, name)
		c.Run.SaveFeatures, c.Run.MeasureEvery = "2, 3", 2
		lab := newLab(t)
		r := mustRun(t, c, lab, Options{})
		for epoch := 1; epoch <= 3; epoch++ {
			dir := rundir.Dir(r.Dir).Features(epoch)
			if _, err := os.Stat(dir); (err == nil) != (epoch > 1) {
				t.Fatalf("epoch %d: %v", epoch, err)
			}
		}
		report := measureFolder(t, rundir.Dir(r.Dir).Features(2))
		rows := map[string]float64{}
		for _, v := range epochValues(t, lab, r.Run) {
			if v.Step == 2 && v.Layer == "" && v.Missing == "" {
				rows[v.Split+"/"+v.Measure] = v.Value
			}
		}
		compared := 0
		for key, got := range report.Measures.All() {
			split := splitTrain
			if key == measure.KeyDilation {
				split = splitTest
			}
			if key == measure.KeyTestAccuracy {
				key, split = measure.KeyAccuracy, splitTest
			}
			if want, ok := rows[split+"/"+key]; ok {
				compared++
				if !(math.Abs(got-want) <= 1e-6*(1e-6+math.Abs(want))) {
					t.Errorf("%s: %s is %v, the run has %v", name, key, got, want)
				}
			}
		}
		if compared < 30 {
			t.Errorf("%s: only %d measures were compared", name, compared)
		}
	}
}

func measureFolder(t *testing.T, dir string) *measure.Report {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	if err != nil || len(files) != 3 {
		t.Fatalf("files %v, %v", files, err)
	}
	set, err := featurefiles.Open(featurefiles.Request{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	report, err := set.Measure(0, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestShardsCutAndKeepTheOrder looks at the ranges of many samples.
func TestShardsCutAndKeepTheOrder(t *testing.T) {
	s := tinySession[float32](t, variant(t, "tapped"), nil)
	s.passBoth()
	d, layer := s.dim, s.taps[0].Channels
	if a := s.trainShard(10, 30); !bytes.Equal(a[0].Data, arrayfile.Of("", []int{20, d}, s.train.features[10*d:30*d]).Data) ||
		!bytes.Equal(a[1].Data, arrayfile.Of("", []int{20}, s.in.train.Observed[10:30]).Data) ||
		!bytes.Equal(a[4].Data, arrayfile.Of("", []int{20, layer}, s.train.layers[0][10*layer:30*layer]).Data) {
		t.Error("a shard from the middle holds other samples")
	}
	width := d
	for _, tap := range s.taps {
		width += tap.Channels
	}
	n, at := 3*shardBytes/(8*width)+5, 0
	ranges := s.shards(n)
	for _, r := range ranges {
		if r[0] != at || r[1] <= r[0] || (r[1]-r[0])*width*8 > shardBytes {
			t.Fatalf("ranges %v of %d samples, %d wide", ranges, n, width)
		}
		at = r[1]
	}
	if at != n || len(ranges) != 4 {
		t.Errorf("ranges %v of %d samples", ranges, n)
	}
}

// TestSavedFeaturesSurviveAKill interrupts a run after its features were saved and before its checkpoint: both are made again alike.
func TestSavedFeaturesSurviveAKill(t *testing.T) {
	c := variant(t, "training pass")
	c.Run.SaveFeatures = "all"
	read := func(r Result) map[string]string {
		all := map[string]string{}
		files, err := filepath.Glob(filepath.Join(r.Dir, "features", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(r.Dir, f)
			if err != nil {
				t.Fatal(err)
			}
			all[rel] = string(b)
		}
		return all
	}
	want := read(mustRun(t, c, newLab(t), Options{}))
	lab := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	c.Run.CheckpointEvery = 3 // epochs 1 and 2 are computed again
	_, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: 2, cancel: cancel}, Open: openOnce})
	var stopped *InterruptedError
	if !errors.As(err, &stopped) {
		t.Fatal(err)
	}
	got := read(mustRun(t, c, lab, Options{}))
	if len(want) != 9 || len(got) != 9 {
		t.Fatalf("%d and %d files", len(want), len(got))
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	// A run that the lab holds without them says so.
	c.Run.SaveFeatures = "none"
	plain, s := newLab(t), &recorder{}
	mustRun(t, c, plain, Options{})
	c.Run.SaveFeatures = "last"
	mustRun(t, c, plain, Options{Sink: s})
	if len(s.notes) != 2 || !strings.Contains(s.notes[1], "without saving the features of epoch 3") {
		t.Errorf("notes %q", s.notes)
	}
}
