package train

import (
	"errors"
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// TestLaterMeasuresWhatTrainingMeasured: measured again from its checkpoints, a run has its own values to the bit, of splits, layers and
// noisy labels; and what no epoch measures is that of the features it saved.
func TestLaterMeasuresWhatTrainingMeasured(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs, c.Run.MeasureEvery, c.Run.Keep, c.Run.Taps, c.Run.SaveFeatures = 4, 2, "all", "stages", "last"
	c.Data.NoiseKind = "latent"
	lab := newLab(t)
	r, err := Run(t.Context(), c, lab, Options{Open: openOnce})
	if err != nil {
		t.Fatal(err)
	}
	run, err := lab.Run(r.Run)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Later(t.Context(), lab.Reader, run, Options{Open: openOnce, Measures: []string{"all"}})
	if err != nil {
		t.Fatal(err)
	}
	type at struct {
		store.Key
		step int64
	}
	later := map[at]store.Value{}
	for _, v := range found {
		later[at{v.Key, v.Step}] = v
	}
	of, err := lab.Values(r.Run)
	if err != nil {
		t.Fatal(err)
	}
	same, layers, clean := 0, 0, 0
	for _, v := range of {
		if v.Series != seriesEpoch || v.Measure == "lr" || v.Measure == "images_per_s" || v.Measure == "running_loss" || v.Measure == "running_accuracy" {
			continue
		}
		got, ok := later[at{v.Key, v.Step}]
		if v.Missing == "" && (!ok || math.Float64bits(got.Value) != math.Float64bits(v.Value) || got.Missing != "") {
			t.Errorf("%v at epoch %d was %v, and is %v later", v.Key, v.Step, v.Value, got)
		}
		same++
		if v.Layer != "" {
			layers++
		}
		if v.Split == splitClean {
			clean++
		}
	}
	if same < 200 || layers < 50 || clean < 50 {
		t.Errorf("%d values are compared, %d of layers, %d of clean samples", same, layers, clean)
	}
	one, err := Later(t.Context(), lab.Reader, run, Options{Open: openOnce, Measures: []string{measure.KeyVCI}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range one { // loss, accuracy and the objective beside it come from the passes
		if v.Measure == measure.KeyNC1Pinv || v.Measure == measure.KeyFeatureRank {
			t.Fatalf("%s was not asked for", v.Measure)
		}
	}
	for _, key := range []string{measure.KeyVCI, measure.KeyFeatureRank} {
		k := store.Key{Series: seriesEpoch, Split: splitTrain, Measure: key}
		got, want := later[at{k, 4}], savedMeasure(t, rundir.Dir(r.Dir), c, key)
		if got.Missing != "" || !(math.Abs(got.Value-want) <= 1e-9*math.Abs(want)) || want == 0 {
			t.Errorf("%s is %v later, and %v of the saved features", key, got, want)
		}
		if _, ok := later[at{k, 2}]; !ok {
			t.Errorf("%s is missing at epoch 2", key)
		}
	}
}

// savedMeasure measures the last epoch's saved training features.
func savedMeasure(t *testing.T, dir rundir.Dir, c Config, key string) float64 {
	t.Helper()
	in := measure.Input[float64]{Classes: 2 * c.Data.Classes}
	err := arrayfile.Read(dir.Features(c.Run.Epochs)+"/"+rundir.Shard(splitTrain, 0), func(f *arrayfile.File) error {
		h, err := f.Load("features")
		if err != nil {
			return err
		}
		y, err := f.Load("labels")
		if err != nil {
			return err
		}
		rows, err := h.Float64s()
		if err != nil {
			return err
		}
		labels, err := y.Float64s()
		in.Train = measure.Memory(rows, h.Shape[1], toInt32(labels))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := measure.Measure(in, measure.Options{Measures: []string{key}})
	if err != nil {
		t.Fatal(err)
	}
	v, ok := report.Measures.Get(key)
	if !ok {
		t.Fatalf("%s is missing: %v", key, report.Missing)
	}
	return v
}

// TestLaterSaysWhatIsNotKept: no features of training passes are kept, and no checkpoint of an epoch that is gone.
func TestLaterSaysWhatIsNotKept(t *testing.T) {
	for name, want := range map[string]string{"passes": "training passes", "removed": "no checkpoint"} {
		c := tinyConfig()
		if name == "passes" {
			c.Run.MeasureFrom = fromTraining
		}
		lab := newLab(t)
		r, err := Run(t.Context(), c, lab, Options{Open: openOnce})
		if err != nil {
			t.Fatal(err)
		}
		run, err := lab.Run(r.Run)
		if err != nil {
			t.Fatal(err)
		}
		if name == "removed" {
			if err := rundir.Dir(r.Dir).Writer(nil).RemoveCheckpointsAfter(0); err != nil {
				t.Fatal(err)
			}
		}
		var kept *NothingKeptError
		if found, err := Later(t.Context(), lab.Reader, run, Options{Open: openOnce}); !errors.As(err, &kept) || found != nil || !strings.Contains(kept.Why, want) || kept.Do == "" {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}
