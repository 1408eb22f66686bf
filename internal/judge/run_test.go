package judge

import (
	"testing"

	"collapse.example/collapse/internal/store"
)

// Between two measurements the newest value is an earlier epoch's; where the newest has none, no older one stands in.
func TestNewest(t *testing.T) {
	r := Run{}
	key := func(measure string) store.Key { return store.Key{Series: "epoch", Split: "train", Measure: measure} }
	r.setValues([]store.Value{{Key: key("accuracy"), Step: 5, Value: 0.75}, {Key: key("nc1_pinv"), Step: 5, Value: 4}, {Key: key("loss"), Step: 5, Missing: "none"},
		{Key: key("nc1_pinv"), Step: 10, Missing: "class 1 is empty"}, {Key: key("loss"), Step: 10, Missing: "none"}, {Key: key("loss"), Step: 10, Value: 2},
		{Key: key("running_loss"), Step: 12, Value: 1}})
	if p, ok := r.Newest("train", "accuracy"); !ok || p.Step != 5 || p.Value != 0.75 {
		t.Errorf("accuracy %+v (%v), wanted 0.75 of epoch 5", p, ok)
	}
	if p, ok := r.Newest("train", "nc1_pinv"); ok {
		t.Errorf("NC1 %+v, wanted none: epoch 10 has no value", p)
	}
	if p, ok := r.Newest("train", "loss"); !ok || p.Value != 2 {
		t.Errorf("loss %+v (%v), wanted the number of epoch 10", p, ok)
	}
	if p, ok := r.Newest("train", "nc2_w"); ok {
		t.Errorf("a measure that was never taken: %+v", p)
	}
}

func TestFinalIsNeverAnOlderValue(t *testing.T) {
	r := Run{}
	key := store.Key{Series: "epoch", Split: "train", Measure: "nc1_pinv"}
	r.setValues([]store.Value{{Key: key, Step: 1, Value: 4}, {Key: key, Step: 2, Missing: "class 1 is empty"},
		{Key: store.Key{Series: "epoch", Split: "test", Measure: "dilation"}, Step: 2, Missing: "no test features"},
		{Key: store.Key{Series: "epoch", Split: "test", Measure: "dilation"}, Step: 2, Value: 0.5},
		{Key: store.Key{Series: "iteration", Split: "train", Measure: "loss"}, Step: 900, Value: 1}})
	if v, ok, why := r.Final("train", "nc1_pinv"); ok || why != "class 1 is empty" {
		t.Errorf("final value %g (%v), reason %q", v, ok, why)
	}
	if v, ok, _ := r.Final("test", "dilation"); !ok || v != 0.5 {
		t.Errorf("dilation %g (%v), wanted 0.5", v, ok)
	}
	if _, ok, why := r.Final("clean", "loss"); ok || why != "never measured" {
		t.Errorf("reason %q", why)
	}
	if r.LastStep() != 2 {
		t.Errorf("last epoch %d, wanted 2", r.LastStep())
	}
}
