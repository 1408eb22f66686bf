package script

import (
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
)

// TestHistoriesBecomeRuns records a history, then a longer one under the same name.
func TestHistoriesBecomeRuns(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	first := `{"epoch": 1, "values": {"train/nc1_pinv": 0.5, "lr": 0.1}}` + "\n"
	for _, text := range []string{first, first + "\n" + `{"epoch": 3, "values": {"train/nc1_pinv": 0.25, "test/loss": NaN}}`} {
		r, err := ReadHistory("resnet", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		hash, err := r.Save(lab)
		if err != nil {
			t.Fatal(err)
		}
		run, err := lab.Find(hash)
		if err != nil || run.Status != store.Done || run.Kind != store.Measure || run.Label != "resnet" {
			t.Fatalf("%+v, %v", run, err)
		}
		values, err := lab.Values(hash)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, v := range values {
			got[v.Split+"/"+v.Measure] = v.Value
			if v.Missing != "" {
				got[v.Split+"/"+v.Measure] = math.Inf(1)
			}
		}
		want := map[string]float64{"train/nc1_pinv": .5, "/lr": .1}
		if r.Epochs() == 2 {
			want["train/nc1_pinv"], want["test/loss"] = .25, math.Inf(1)
		}
		if len(got) != len(want) || len(values) != 2*r.Epochs() {
			t.Errorf("values %v, want the last of %v", values, want)
		}
		for key, x := range want {
			if got[key] != x {
				t.Errorf("%s is %g, want %g", key, got[key], x)
			}
		}
	}
	if runs, err := lab.List(store.Filter{}); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v; want one", len(runs), err)
	}
}

func TestHistoriesAreChecked(t *testing.T) {
	for text, said := range map[string]string{
		`{"epoch": 2, "values": {}}` + "\n" + `{"epoch": 2, "values": {}}`: "line 2: epoch 2 comes after epoch 2",
		`{"epoch": -1, "values": {}}`:                                      "epoch -1 comes after epoch none",
		`{"epoch": 1, "done": true}`:                                       "an epoch and values alone",
		`{"epoch": 1, "values": {"test/": 1}}`:                             "is not a valid name",
		`nonsense`:                                                         `wanted one JSON object such as {"epoch": 3`,
	} {
		if _, err := ReadHistory("x", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%q: %v, want %q", text, err, said)
		}
	}
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	if _, err := (&Recording{Name: "x"}).Save(lab); err == nil || !strings.Contains(err.Error(), "no epoch") {
		t.Errorf("an empty recording: %v", err)
	}
}
