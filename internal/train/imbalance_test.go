package train

import (
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/data"
)

// imbalanced is a tiny configuration with fewer samples of the last classes.
func imbalanced(sets ...string) (Config, error) {
	return Load("", nil, append([]string{"data.name=glyphs", "data.classes=4", "data.samples_per_class=40", "data.test_samples_per_class=5"}, sets...)...)
}

func TestImbalancedClasses(t *testing.T) {
	for _, row := range []struct {
		sets []string
		want []int
	}{
		{nil, []int{40, 40, 40, 40}},
		{[]string{"data.imbalance=step"}, []int{40, 40, 4, 4}},
		{[]string{"data.imbalance=step", "data.minority=1", "data.imbalance_ratio=4"}, []int{40, 40, 40, 10}},
		{[]string{"data.imbalance=long-tail", "data.imbalance_ratio=8"}, []int{40, 20, 10, 5}},
		{[]string{"data.imbalance=step", "data.validation=0.25"}, []int{30, 30, 3, 3}},
	} {
		c, err := imbalanced(row.sets...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		in, err := openInputs(plan, Options{})
		if err != nil || !slices.Equal(in.train.Counts(), row.want) || !slices.Equal(in.test.Counts(), []int{5, 5, 5, 5}) {
			t.Errorf("%v: %v, %v; wanted %v", row.sets, in.train.Counts(), err, row.want)
			continue
		}
		if on, err := plan.official(); err != nil || on.train != in.train.N() || on.held != in.heldN() {
			t.Errorf("%v: foreseen %+v, %v", row.sets, on, err)
		}
	}
}

// TestImbalanceIsPartOfARun: another ratio is another run, half of the classes said or not the same one, and without imbalance nothing changes.
func TestImbalanceIsPartOfARun(t *testing.T) {
	text := func(sets ...string) string {
		t.Helper()
		c, err := imbalanced(sets...)
		if err != nil {
			t.Fatal(err)
		}
		return string(Canonical(c, "a", "b"))
	}
	if strings.Contains(text(), "imbalance") {
		t.Error("a balanced run names imbalance")
	}
	half := text("data.imbalance=step")
	if half != text("data.imbalance=step", "data.minority=2") || half == text("data.imbalance=step", "data.minority=1") || half == text("data.imbalance=step", "data.imbalance_ratio=4") {
		t.Errorf("identities: %s", half)
	}
	for want, sets := range map[string][]string{
		"data.imbalance_ratio": {"data.imbalance_ratio=4"},
		"data.minority":        {"data.imbalance=long-tail", "data.minority=2"},
		"wanted":               {"data.imbalance=steep"},
		"is 0.5":               {"data.imbalance=step", "data.imbalance_ratio=0.5"},
	} {
		c, err := imbalanced(sets...)
		if err == nil {
			_, err = c.Plan()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", sets, err)
		}
	}
	c, err := imbalanced("data.imbalance=step", "data.minority=9")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openInputs(plan, Options{Open: data.Open}); err == nil || !strings.Contains(err.Error(), "9 of 4 classes") {
		t.Errorf("nine of four: %v", err)
	}
}
