package train

import (
	"collapse.example/collapse/internal/reporttest"
	"fmt"
	"math"
	"os"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/data"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

func TestFeaturesFile(t *testing.T) {
	lab := newLab(t)
	r := mustRun(t, tinyConfig(), lab, Options{})
	f, err := arrayfile.Open(r.Features)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shapes := map[string]string{}
	for _, h := range f.Headers() {
		shapes[h.Name] = fmt.Sprint(h.DType, h.Shape)
	}
	want := map[string]string{"train_h": "F32 [80 2]", "train_observed": "I32 [80]", "train_true": "I32 [80]", "train_redrawn": "U8 [80]",
		"test_h": "F32 [40 2]", "test_true": "I32 [40]", "weight": "F32 [2 2]", "bias": "F32 [2]", "train_samples": "I64 []", "test_samples": "I64 []"}
	for name, shape := range want {
		if shapes[name] != shape {
			t.Errorf("%s is %q, wanted %q", name, shapes[name], shape)
		}
	}
	read := func(name string) []float64 {
		a, err := f.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := a.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// Loss and accuracy of every split follow from the saved features and classifier, in float64 by the textbook formula.
	w, b := read("weight"), read("bias")
	trainLabels, truth := read("train_observed"), read("train_true")
	clean := func(i int) bool { return trainLabels[i] == truth[i] }
	all := func(int) bool { return true }
	for _, split := range []struct {
		name      string
		h, labels []float64
		only      func(int) bool
	}{{"train", read("train_h"), trainLabels, all}, {"clean", read("train_h"), trainLabels, clean}, {"test", read("test_h"), read("test_true"), all}} {
		var loss, right, n float64
		var h []float32
		var labels []int32
		for i, y := range split.labels {
			if !split.only(i) {
				continue
			}
			x := split.h[2*i : 2*i+2]
			margin := x[0]*(w[2]-w[0]) + x[1]*(w[3]-w[1]) + b[1] - b[0] // logit 1 minus logit 0
			loss += math.Log(1 + math.Exp(margin*(1-2*y)))
			if (margin > 0) == (y == 1) {
				right++
			}
			n++
			h, labels = append(h, float32(x[0]), float32(x[1])), append(labels, int32(y))
		}
		if got, want := r.Values[split.name+"/loss"], loss/n; !(math.Abs(got-want) <= 1e-5*want) {
			t.Errorf("%s: loss is %v, the saved features give %v", split.name, got, want)
		}
		if got, want := r.Values[split.name+"/accuracy"], right/n; got != want {
			t.Errorf("%s: accuracy is %v, the saved features give %v", split.name, got, want)
		}
		report, err := measure.Measure(measure.Input[float32]{Classes: 2, Train: measure.Memory(h, 2, labels)}, measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Values[split.name+"/nc1_pinv"], reporttest.Of(report.Measures, measure.KeyNC1Pinv); !(math.Abs(got-want) <= 1e-6*want) {
			t.Errorf("%s: NC1 is %v, the saved features give %v", split.name, got, want)
		}
	}
	if r.Values["clean/loss"] == r.Values["train/loss"] || !(r.Values["train/memorization_flipped"] > 0) ||
		!(r.Values["train/memorization_redrawn"] >= r.Values["train/memorization_flipped"]) {
		t.Errorf("label noise shows nowhere: %v", r.Values)
	}
}

// TestPassEvaluatesEverySample compares chunks of a batch with samples one at a time.
func TestPassEvaluatesEverySample(t *testing.T) {
	s := tinySession[float64](t, tinyConfig(), nil)
	s.passBoth()
	d, net := s.dim, nativeOf(s).net
	for _, split := range []struct {
		e      *evaluation[float64]
		pixels *data.Inputs
	}{{&s.train, s.in.trainPixel}, {&s.test, s.in.testPixel}} {
		x := make([]float64, split.pixels.Dim())
		for i := range split.pixels.N() {
			data.FillRange(x, split.pixels, i, i+1)
			for j, want := range net.Forward(x, 1, nn.Eval).Features {
				if got := split.e.features[i*d+j]; !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
					t.Fatalf("sample %d of %d: feature %d is %v, alone %v", i, split.pixels.N(), j, got, want)
				}
			}
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	for _, threads := range []int{0, 2} {
		var team *parallel.Team
		if threads > 0 {
			team = parallel.NewTeam(threads)
		}
		for name := range variants {
			if name == "float64" {
				continue
			}
			s := tinySession[float32](t, variant(t, name), team)
			s.keepTraining(true)
			n, e := nativeOf(s), s.order(0)
			e.lr = 0.01
			n.tap(e.keep != nil)
			var sum tally
			samples := []int32{3, 1, 4, 15, 9, 26, 5, 35}
			step := func() {
				if err := n.trainStep(samples, &e, &sum); err != nil {
					t.Fatal(err)
				}
			}
			step()
			if allocs := testing.AllocsPerRun(20, step); allocs != 0 {
				t.Errorf("%s, %d threads: a step makes %v heap allocations", name, threads, allocs)
			}
		}
		team.Close()
	}
}

// nativeOf is the engine of a session.
func nativeOf[T Float](s *session[T]) *native[T] { return s.engine.(*native[T]) }

func tinySession[T Float](t testing.TB, c Config, team *parallel.Team) *session[T] {
	t.Helper()
	plan := mustPlan(t, c)
	in, err := openInputs(plan, Options{Open: openOnce})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.prepare(c.Data.Pipeline); err != nil {
		t.Fatal(err)
	}
	s, err := newSession[T](t.Context(), plan, in, Options{Team: team})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPapersNetworkOnMNIST trains the paper's ten layers, narrower, on real digits with label noise.
func TestPapersNetworkOnMNIST(t *testing.T) {
	if os.Getenv(data.RootVariable) == "" {
		t.Skip("COLLAPSE_DATA is not set: a folder with mnist/ is needed")
	}
	for _, loss := range []string{"ce", "ls"} {
		c := Default()
		c.Data.SamplesPerClass, c.Data.Noise, c.Loss.Kind = 400, 0.1, loss
		c.Net.Width, c.Run.Epochs, c.Run.Batch, c.Optim.Schedule.Every = 64, 4, 64, 3
		team := parallel.NewTeam(0)
		r := mustRun(t, c, newLab(t), Options{Team: team})
		team.Close()
		if a := r.Values["test/accuracy"]; !(a > 0.95) {
			t.Errorf("%s: test accuracy of zeros against ones is %v, wanted above 0.95", loss, a)
		}
		for _, key := range []string{"clean/nc1_pinv", "train/memorization_flipped", "test/dilation"} {
			if v, ok := r.Values[key]; !ok || !(v > 0) {
				t.Errorf("%s: %s is %v (%v), wanted above 0", loss, key, v, ok)
			}
		}
	}
}
