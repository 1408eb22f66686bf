package demo_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

// TestTheSmallestDemoCollapses trains it twice: a finished run is shown again from its first epoch.
func TestTheSmallestDemoCollapses(t *testing.T) {
	lab, c := studytest.Lab(t), demo.SmokeNetwork()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	team := parallel.NewTeam(2)
	defer team.Close()
	var first *demo.Collapse
	for range 2 {
		shown := 0
		found, err := demo.RunCollapse(t.Context(), lab, c, team, func(m demo.Moment) { shown++ })
		if err != nil {
			t.Fatal(err)
		}
		last := found.Moments[len(found.Moments)-1]
		if shown != c.Run.Epochs || len(found.Moments) != shown || last.Epoch != shown || len(last.Dials) != 4 || len(found.Errors) != 4 {
			t.Errorf("%d epochs shown, %d kept, the last is %+v, errors %v", shown, len(found.Moments), last, found.Errors)
		}
		if found.Epoch < 2 || !measurement.Collapsed(found.Report) {
			t.Errorf("collapsed at epoch %d; in the end: %s", found.Epoch, measurement.HeadlineOf(found.Report))
		}
		if v, _ := found.Report.Value(measure.KeyNC1Pinv); v != last.Dials[0].Value {
			t.Errorf("NC1 is %g in the report and %g on the dial", v, last.Dials[0].Value)
		}
		if first != nil && fmt.Sprint(first.Moments) != fmt.Sprint(found.Moments) {
			t.Error("the second time differs from the first")
		}
		first = found
	}
}

// TestTheDemoIsTheSameOnEveryKernel trains the whole network with the fastest kernel, and with COLLAPSE_KERNELS=all with each.
func TestTheDemoIsTheSameOnEveryKernel(t *testing.T) {
	longtest.Only(t)
	used := isa.Name()
	defer isa.Use(used)
	kernels := []string{used}
	if os.Getenv("COLLAPSE_KERNELS") == "all" {
		kernels = isa.Available()
	}
	for _, kernel := range kernels {
		if err := isa.Use(kernel); err != nil {
			t.Fatal(err)
		}
		team := parallel.NewTeam(2)
		found, err := demo.RunCollapse(t.Context(), studytest.Lab(t), demo.Network(), team, func(demo.Moment) {})
		team.Close()
		if err != nil {
			t.Fatal(err)
		}
		nc1, _ := found.Report.Value(measure.KeyNC1Pinv)
		if found.Epoch != 34 || math.Abs(nc1/4.02e-4-1) > .01 {
			t.Errorf("%s: collapsed at epoch %d, NC1 %g at the end; wanted 34 and 4.02e-4", kernel, found.Epoch, nc1)
		}
	}
}
