package forecast

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

var must = studytest.Must

func TestForesee(t *testing.T) {
	f, err := study.ParseFile("x.toml", []byte(studytest.GridFile), nil, 0)
	must(t, err)
	configs, _, err := f.Configs()
	must(t, err)
	items, err := f.Items(nil)
	must(t, err)
	e, err := Study(nil, configs, items, 2, 2, Elsewhere{})
	if err != nil || e.Runs != 12 || e.Missing != 12 || !(e.Seconds > 0) || e.Memory < 1000 || !strings.Contains(e.Basis, "1 shapes") {
		t.Errorf("%+v, %v", e, err)
	}
	lab := studytest.Lab(t)
	_, err = study.Save(lab, "noise", "", "", items[:5])
	must(t, err)
	if _, err := coordinator.Execute(t.Context(), lab, []string{"noise"}, coordinator.Options{Slots: 2, Threads: 2, Queue: studytest.QuickQueue(), Logf: t.Logf}); err != nil {
		t.Fatal(err)
	}
	lease, _, err := lab.Lease(items[5].Spec)
	must(t, err)
	must(t, lease.Fail(errors.New("it broke")))
	runs, err := lab.StudyRuns("noise", store.Done)
	must(t, err)
	var took []float64
	for _, run := range runs {
		took = append(took, run.Finished.Sub(run.Started).Seconds())
	}
	slices.Sort(took)
	e, err = Study(lab.Reader, configs, items, 2, 2, Elsewhere{})
	if err != nil || e.Runs != 12 || e.Missing != 6 || e.Failed != 1 || !strings.Contains(e.Basis, "5 runs of this study") {
		t.Errorf("%+v, %v", e, err)
	}
	if want := 3 * took[2]; math.Abs(e.Seconds-want) > 1e-9 { // six runs on two slots
		t.Errorf("%g s, wanted three times the median %g", e.Seconds, want)
	}
	one, err := Study(lab.Reader, configs, items, 1, 2, Elsewhere{})
	if err != nil || 2*one.Memory != e.Memory {
		t.Errorf("two slots take %d bytes, one %d; %v", e.Memory, one.Memory, err)
	}
}

// Runs of PyTorch take as long as a short run there says, whatever our own kernels would take; each shape is timed once.
func TestRunsOfAnotherEngine(t *testing.T) {
	f, err := study.ParseFile("x.toml", []byte(studytest.GridFile), []string{"run.engine=torch"}, 0)
	must(t, err)
	configs, _, err := f.Configs()
	must(t, err)
	items, err := f.Items(nil)
	must(t, err)
	asked := 0
	there := Elsewhere{Devices: 2, Rate: func(c train.Config) (float64, error) {
		asked++
		if !c.External() {
			t.Error("a run of our own kernels is timed elsewhere")
		}
		return 50, nil
	}}
	e, err := Study(nil, configs, items, 2, 2, there)
	must(t, err)
	o, err := train.ForeseeOfficial(configs[0])
	must(t, err)
	want := 12 * (float64(o.Trained) + float64(o.Forward)/3) / 50 / 2
	if math.Abs(e.Seconds-want) > 1e-9*want || asked != 1 || !strings.Contains(e.Basis, "PyTorch, of 1 shape, one at a time on 2 devices") {
		t.Errorf("%+v, wanted %g s, asked %d times", e, want, asked)
	}
	there.Rate = func(train.Config) (float64, error) { return 0, errors.New("no torch here") }
	if _, err := Study(nil, configs, items, 2, 2, there); err == nil || !strings.Contains(err.Error(), "no torch here") {
		t.Errorf("%v", err)
	}
	if _, err := Study(nil, configs, items, 2, 2, Elsewhere{}); err == nil {
		t.Error("nobody was asked")
	}
}

// Two epochs of two batches, with 60 samples measured after each: 4 steps, and 6 batches that only pass forward.
func TestStepsByHand(t *testing.T) {
	for kind, want := range map[string]float64{"sgd": 4 + 2, "lbfgs": 4*7 + 2} {
		c := studytest.Tiny()
		c.Data.Classes = 2
		if c.Optim.Kind = kind; kind == "lbfgs" {
			c.Optim.LBFGS.MaxIter = 7
		}
		o, err := train.ForeseeOfficial(c)
		must(t, err)
		if got := steps(o); got != want {
			t.Errorf("%s: %g steps, by hand %g", kind, got, want)
		}
	}
}
