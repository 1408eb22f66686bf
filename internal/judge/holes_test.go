package judge_test

import (
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

// TestNothingMeasuredIsNoNumber: without mislabelled samples, or with class means that are equal, there is no way to have gone, which is
// not the same as a way of length zero.
func TestNothingMeasuredIsNoNumber(t *testing.T) {
	for name, f := range map[string]judge.Features{
		"no mislabelled sample": {D: 2, K: 2, TrainH: []float64{1, 7}, True: []int{0}, Observed: []int{0}, TestH: []float64{1, 0, 5, 0}, TestTrue: []int{0, 1}},
		"equal class means":     {D: 2, K: 2, TrainH: []float64{1, 7}, True: []int{0}, Observed: []int{1}, TestH: []float64{1, 0, 1, 0}, TestTrue: []int{0, 1}},
	} {
		r := judgetest.Common().Run(t, "ce", 0.2, 1)
		r.SetFeatures(&f, "")
		if v, err := judge.JudgeRun(&r).Value("kept.memorized_way", 1); err == nil || !strings.Contains(err.Error(), "no mislabelled sample, or its class means are equal") {
			t.Errorf("%s: %g, %v", name, v, err)
		}
	}
	f := judge.Features{D: 2, K: 2, TrainH: []float64{1, 7}, True: []int{0}, Observed: []int{1}, TestH: []float64{1, 0}, TestTrue: []int{0}}
	r := judgetest.Common().Run(t, "ce", 0.2, 1)
	r.SetFeatures(&f, "")
	if v, err := judge.JudgeRun(&r).Value("kept.memorized_way", 1); err == nil || !strings.Contains(err.Error(), "no test samples of class 0 or 1") {
		t.Errorf("a class without test samples: %g, %v", v, err)
	}
}

// TestSlopesNeedThreePlaces: where runs are at two values, any slope could be noise, and the claim says so instead of answering.
func TestSlopesNeedThreePlaces(t *testing.T) {
	slope := func(kind string) string {
		return `slope("data.noise", "test.dilation", {"loss.kind": "` + kind + `"})`
	}
	s := with(asks(slope("ls"), slope("ce")), func(s *judge.Statement) {
		s.Kind, s.Unit, s.Band, s.Because = judge.Equal, "quotient", &[2]float64{.3, 3}, "a test"
	})
	for noises, decided := range map[*[]float64]bool{{0, .4}: false, {0, .2, .4}: true} {
		m := judgetest.Common()
		m.Noises, m.Slope = *noises, map[string]float64{"ce": .004, "ls": .008} // the same dilation for the same noise
		claim, err := s.Judge(m.Runs(t))
		if err != nil {
			t.Fatal(err)
		}
		if decided && claim.Verdict != judge.Holds || !decided && (claim.Verdict != judge.CannotTell || !strings.Contains(claim.Reason, "a slope needs runs at three values of data.noise; there are 2")) {
			t.Errorf("noise %v: %s (%s)", *noises, claim.Verdict, claim.Reason)
		}
	}
}

// TestHeadlineOfOneLevel: of a loss that was trained with one level of noise there is no growth to tell, but its test accuracy, in percent.
func TestHeadlineOfOneLevel(t *testing.T) {
	m := judgetest.Common()
	m.Jitter, m.Accuracy = 0, map[string]float64{"ce": .1, "ls": .45} // 0.99 − 0.09
	runs := slices.DeleteFunc(m.Runs(t), func(r judge.Run) bool { return r.Loss == "ls" && r.Noise != .2 })
	gs, _ := judge.Experiments(runs)
	_, _, facts := judge.Headline(gs, [][]judge.Claim{gs[0].Claims()})
	if !slices.ContainsFunc(facts, func(f string) bool {
		return strings.Contains(f, "at η = 0.2: memorization") && strings.HasSuffix(f, "test accuracy 90.0 %")
	}) {
		t.Errorf("%q", facts)
	}
}

// TestSidesAreNamed: of a comparison the two expressions, of a line what is on its axes.
func TestSidesAreNamed(t *testing.T) {
	runs := judgetest.Common().Runs(t)
	left, right := `final("train.nc1_pinv")`, `start("train.nc1_pinv")`
	line := judge.Statement{ID: "x", Says: "so", Kind: judge.Linear, X: "data.noise", Y: "test.dilation", Band: &[2]float64{-.1, .1}, Because: "a test", Where: map[string]any{"loss.kind": "ce"}}
	for name, of := range map[string]struct {
		s    judge.Statement
		want [2]string
	}{"comparison": {asks(left, right), [2]string{left, right}}, "line": {line, [2]string{"data.noise", "test.dilation"}}} {
		claim, err := of.s.Judge(runs)
		if err != nil || claim.Effect == nil || claim.Effect.Sides != of.want {
			t.Errorf("%s: %+v, %v", name, claim.Effect, err)
		}
	}
}

// TestCurvesAreNamedByWhatIsUnusual: a setting of a loss that the papers use is not said, another is.
func TestCurvesAreNamedByWhatIsUnusual(t *testing.T) {
	r := judgetest.Common().Run(t, "ls", 0.2, 1)
	plain := r.CurveName()
	usual := ""
	for _, v := range []string{"0.05", "0.1", "0.2", "0.3", "0.4"} {
		r.Settings["loss.smoothing"] = v
		switch name := r.CurveName(); {
		case name == plain:
			usual += " " + v
		case !strings.HasPrefix(name, plain+" (") || !strings.HasSuffix(name, " = "+v+")"):
			t.Errorf("with smoothing %s: %q", v, name)
		}
	}
	if len(strings.Fields(usual)) != 1 {
		t.Errorf("usual are%s", usual)
	}
	delete(r.Settings, "loss.smoothing")
	if strings.Contains(plain, "(") || r.CurveName() != plain {
		t.Errorf("%q", plain)
	}
}
