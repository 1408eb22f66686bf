package serve

import (
	"net/http"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
)

// TestGroupsAreComparedAtOneEpoch: a run that is still at epoch 3 does not enter a mean beside values of epoch 8, and a script's own values
// are the columns of its groups.
func TestGroupsAreComparedAtOneEpoch(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	run := func(kind store.Kind, tag, key, value string, seed int, split, name string, epochs ...int64) {
		t.Helper()
		lease, _, err := lab.Lease(store.Spec{Kind: kind, Tags: []string{tag}, Config: map[string]any{key: value, "run": map[string]any{"epochs": 8, "seed": seed}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range epochs {
			v := store.Value{Key: store.Key{Series: "epoch", Split: split, Measure: name}, Step: e, Value: 10*float64(seed) + float64(e)}
			if _, err := lab.AppendAll([]store.Part{{Lease: lease, EpochRows: store.EpochRows{Epoch: e, Rows: []store.Value{v}}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		value  string
		seed   int
		epochs []int64
	}{{"a", 1, []int64{3, 5, 8}}, {"a", 2, []int64{3}}, {"b", 1, []int64{3, 5, 8}}, {"b", 3, nil}} {
		run(store.Script, "mine", "method", c.value, c.seed, "val", "f1", c.epochs...)
		run(store.Train, "ours", "note", c.value, c.seed, "train", "nc1_pinv", c.epochs...)
	}
	s := startTest(t, Options{Lab: lab.Dir()})
	if _, body := get(t, http.DefaultClient, "GET", s.URL()+"study?tag=ours", nil); !strings.Contains(body, `<a href="/compare?by=note&amp;tag=ours">compare them by note</a>`) {
		t.Error("the page of runs without a picture does not lead to their comparison")
	}
	for query, want := range map[string][]string{
		"tag=mine&by=method": {`val/f1 <span class="soft">epoch 3</span>`, "<td>2</td><td>18.0 (13.0 to 23.0)</td>", "<td>2</td><td>13.0, 1 of 2 runs</td>", "What the script reported, against epoch"},
		"tag=ours&by=note":   {`NC1 <span class="soft">epoch 3</span>`, "<td>2</td><td>18.0 (13.0 to 23.0)</td><td>–</td>", "13.0, 1 of 2 runs"},
	} {
		answer, body := get(t, http.DefaultClient, "GET", s.URL()+"compare?"+query, nil)
		for _, words := range want {
			if answer.StatusCode != http.StatusOK || !strings.Contains(body, words) {
				from := max(0, strings.Index(body, "data-groups"))
				t.Errorf("%s: %d, lacks %s:\n%.900s", query, answer.StatusCode, words, body[from:])
			}
		}
	}
}
