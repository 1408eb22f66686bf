package study

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"collapse/internal/store"
)

func TestForesee(t *testing.T) {
	f, err := ParseFile("x.toml", []byte(goodFile), nil, 0)
	must(t, err)
	configs, _, err := f.Configs()
	must(t, err)
	items, err := f.Items(nil)
	must(t, err)
	e, err := Foresee(nil, configs, items, 2, 2)
	if err != nil || e.Runs != 12 || e.Missing != 12 || !(e.Seconds > 0) || e.Memory < 1000 || !strings.Contains(e.Basis, "1 shapes") {
		t.Errorf("%+v, %v", e, err)
	}
	lab := openLab(t)
	_, err = Save(lab, "noise", "", "", items[:5])
	must(t, err)
	if _, err := Execute(t.Context(), lab, []string{"noise"}, Options{Slots: 2, Threads: 2, Queue: quickQueue(), Logf: t.Logf}); err != nil {
		t.Fatal(err)
	}
	claim, _, err := lab.Claim(items[5].Spec)
	must(t, err)
	must(t, claim.Fail(errors.New("it broke")))
	runs, err := lab.StudyRuns("noise", store.Done)
	must(t, err)
	var took []float64
	for _, run := range runs {
		took = append(took, run.Finished.Sub(run.Started).Seconds())
	}
	slices.Sort(took)
	e, err = Foresee(lab.Reader, configs, items, 2, 2)
	if err != nil || e.Runs != 12 || e.Missing != 6 || e.Failed != 1 || !strings.Contains(e.Basis, "5 runs of this study") {
		t.Errorf("%+v, %v", e, err)
	}
	if want := 3 * took[2]; math.Abs(e.Seconds-want) > 1e-9 { // six runs on two slots
		t.Errorf("%g s, wanted three times the median %g", e.Seconds, want)
	}
	one, err := Foresee(lab.Reader, configs, items, 1, 2)
	if err != nil || 2*one.Memory != e.Memory {
		t.Errorf("two slots take %d bytes, one %d; %v", e.Memory, one.Memory, err)
	}
}
