package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// TestBetweenTwoMeasurements reads the pages of a run two epochs after the last that was measured: they show what was measured, and when.
func TestBetweenTwoMeasurements(t *testing.T) {
	dir := t.TempDir()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	lease, _, err := lab.Lease(store.Spec{Kind: store.Train, Tags: []string{"sparse"}, Config: map[string]any{
		"run": map[string]int{"epochs": 20, "measure_every": 5}, "data": map[string]float64{"noise": 0.1}}})
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Interrupt()
	row := func(split, measure string, epoch int64, v float64) store.Value {
		return store.Value{Key: store.Key{Series: "epoch", Split: split, Measure: measure}, Step: epoch, Value: v}
	}
	for epoch := int64(1); epoch <= 7; epoch++ {
		rows := []store.Value{row("train", "running_loss", epoch, 1)}
		if epoch == 5 {
			rows = append(rows, row("train", "accuracy", epoch, 0.625), row("test", "accuracy", epoch, 0.375),
				row("train", "nc1_pinv", epoch, 0.8125), row("train", measure.KeyNC2MeansCentred, epoch, 0.25), row("train", measure.KeyNC3Centred, epoch, 0.5),
				row("train", measure.KeyNC4NCCMismatch, epoch, 0.125), row("train", "loss", epoch, 1), row("test", "dilation", epoch, 0.6875), row("train", "memorization_flipped", epoch, 11.5))
		}
		if err := lease.AppendEpoch(epoch, rows); err != nil {
			t.Fatal(err)
		}
	}
	s := startTest(t, Options{Lab: dir})
	for path, wants := range map[string][]string{
		"study?tag=sparse": {"left, measured at 5)", "<td>0.812</td><td>62.50 %</td><td>37.50 %</td><td>0.688</td><td>11.5</td>"},
		"run/" + lease.Hash: {`<dd data-tile="epoch">7 of 20</dd>`, `<dd data-tile="measured at epoch">5</dd>`, `<dd data-tile="train accuracy">62.50 %</dd>`,
			`<dd data-tile="test accuracy">37.50 %</dd>`, `<dd data-tile="NC1 (train)">0.812</dd>`, `<dd data-tile="NC3 (train)">0.500</dd>`, `<dd data-tile="NC4 (train)">12.5 %</dd>`,
			`<td>0.812</td><td>0.250</td><td>0.500</td><td>12.5 %</td><td>0.688</td></tr>`, `<dd data-tile="memorization">11.5</dd>`},
	} {
		_, body := get(t, http.DefaultClient, "GET", s.URL()+path, map[string]string{"Accept": "text/html"})
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("/%s lacks %s", path, want)
			}
		}
	}
	if _, body := get(t, http.DefaultClient, "GET", s.URL()+"run/"+lease.Hash, nil); strings.Contains(body, `data-tile="NC2 (train)"`) {
		t.Error("NC2 has a tile, and says nothing of two classes")
	}
	var fresh news
	_, body := get(t, http.DefaultClient, "GET", s.URL()+"run/"+lease.Hash+"/news?after=6", nil)
	if err := json.Unmarshal([]byte(body), &fresh); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"epoch": "7 of 20", "measured at epoch": "5", "train accuracy": "62.50 %", "NC4 (train)": "12.5 %", "dilation √NC1 (test)": "0.688"} {
		if got := fresh.Tiles[name]; got != want {
			t.Errorf("news of %s: %q, want %q", name, got, want)
		}
	}
}
