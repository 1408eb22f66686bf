package train

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/data"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
	"collapse.example/collapse/parallel"
)

// variants are tiny runs of every optimiser, decay, noise and way to measure, as changes of tinyConfig.
var variants = map[string]func(*Config){
	"adam":         func(c *Config) { c.Optim.Kind, c.Optim.LR = "adam", 1e-3 },
	"adam peeled":  func(c *Config) { c.Optim.Kind, c.Optim.LR, c.Optim.Decay = "adam", 1e-3, string(optim.DecayPeeled) },
	"peeled":       func(c *Config) { c.Optim.Decay, c.Optim.LambdaH = string(optim.DecayPeeled), 1e-4 },
	"peeled batch": func(c *Config) { c.Optim.Decay, c.Optim.LambdaH = string(optim.DecayPeeledBatch), 1e-3 },
	"peeled code":  func(c *Config) { c.Optim.Decay = string(optim.DecayPeeledCode) },
	"lbfgs":        func(c *Config) { c.Optim.Kind, c.Optim.LBFGS.MaxIter, c.Optim.LBFGS.History = "lbfgs", 5, 3 },
	"lbfgs wolfe": func(c *Config) {
		c.Optim.Kind, c.Optim.LBFGS.LineSearch, c.Optim.LBFGS.MaxIter, c.Optim.LBFGS.History = "lbfgs", "strong_wolfe", 5, 4
	},
	"cosine": func(c *Config) {
		c.Optim.Schedule = ScheduleConfig{Kind: "cosine", Every: 40, Gamma: 0.1, Factor: 1, Warmup: 1}
	},
	"latent":        func(c *Config) { c.Data.NoiseKind, c.Net.FeatureDim = data.NoiseLatent, 2 },
	"per class":     func(c *Config) { c.Data.NoiseKind, c.Data.Noise, c.Data.NoiseRates = data.NoisePerClass, 0, "0, .3" },
	"random labels": func(c *Config) { c.Data.NoiseKind, c.Data.Noise = data.NoiseRandomLabels, 0 },
	"augmented":     func(c *Config) { c.Data.Augment = data.AugmentCropFlip },
	"training pass": func(c *Config) {
		c.Run.MeasureFrom, c.Run.MeasureEvery, c.Data.Augment = fromTraining, 2, data.AugmentCropFlip
	},
	"tapped":      func(c *Config) { c.Run.Taps = stages },
	"tapped pass": func(c *Config) { c.Run.Taps, c.Run.MeasureFrom = stages, fromTraining },
	"etf":         func(c *Config) { c.Net.Classifier, c.Net.ETF, c.Net.FeatureDim = nn.ClassifierETF, nn.ETFRandom, 3 },
	"normalized": func(c *Config) {
		c.Net.Classifier, c.Net.Temperature, c.Net.LinearFeatures, c.Net.FeatureDim = nn.ClassifierNormalized, 4, true, 2
	},
	"float64": func(c *Config) { c.Run.DType = "float64" },
}

// adapt makes the network a narrow ResNet on 3×32×32 images.
func adapt(c *Config) {
	c.Net.Kind, c.Net.StemWidth, c.Net.Depth, c.Net.Width, c.Data.Pipeline, c.Optim.LR = nn.KindAdapt, 2, 0, 0, data.PipelineMD, 0.05
}

// variant is tinyConfig changed so.
func variant(t *testing.T, name string) Config {
	t.Helper()
	c := tinyConfig()
	variants[name](&c)
	if err := c.Check(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

// TestEveryVariantResumesInTheSameBits stops each variant after its first epoch and goes on with other threads.
func TestEveryVariantResumesInTheSameBits(t *testing.T) {
	for name := range variants {
		t.Run(name, func(t *testing.T) {
			c := variant(t, name)
			whole, lab := newLab(t), newLab(t)
			want := mustRun(t, c, whole, Options{})
			ctx, cancel := context.WithCancel(context.Background())
			var stopped *InterruptedError
			if _, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: 1, cancel: cancel}, Open: openOnce}); !errors.As(err, &stopped) || stopped.Epoch != 1 {
				t.Fatalf("interrupted run: %v", err)
			}
			team := parallel.NewTeam(2)
			defer team.Close()
			back, err := Resume(context.Background(), lab, want.Run[:12], Options{Open: openOnce, Team: team})
			if err != nil {
				t.Fatal(err)
			}
			sameFiles(t, "resumed", endFiles(t, want), endFiles(t, back))
			sameValues(t, "resumed", epochValues(t, whole, want.Run), epochValues(t, lab, back.Run))
		})
	}
}

// TestEveryVariantLowersItsLoss runs each variant for longer and looks at the training loss.
func TestEveryVariantLowersItsLoss(t *testing.T) {
	for name := range variants {
		t.Run(name, func(t *testing.T) {
			c := variant(t, name)
			if c.Run.Epochs = 8; c.Optim.Schedule.Kind == "step" {
				c.Optim.Schedule.Every = 6
			}
			c.Run.MeasureEvery, c.Run.CheckpointEvery = 8, 8 // the running loss has a row in every epoch
			lab := newLab(t)
			r := mustRun(t, c, lab, Options{})
			first := math.NaN()
			for _, v := range epochValues(t, lab, r.Run) {
				if v.Step == 1 && v.Split == splitTrain && v.Measure == "running_loss" {
					first = v.Value
				}
			}
			if last := r.Values["train/running_loss"]; !(last < 0.9*first) {
				t.Errorf("running loss went from %v to %v", first, last)
			}
		})
	}
}

// TestObjectiveGradients compares the gradients of the whole objective, weight decay included, with central differences.
func TestObjectiveGradients(t *testing.T) {
	for _, kind := range []optim.DecayKind{optim.DecayAll, optim.DecayPeeled, optim.DecayPeeledBatch, optim.DecayPeeledCode} {
		c := tinyConfig()
		c.Optim.Kind, c.Optim.Decay, c.Run.DType = "lbfgs", string(kind), "float64"
		if kind == optim.DecayAll {
			c.Optim.WeightDecay = 0.3
		} else {
			c.Optim.LambdaW, c.Optim.LambdaB, c.Optim.LambdaH = 0.3, 0.3, 0.02
		}
		c.Net.Activation = "sigmoid" // no kinks
		s := nativeOf(tinySession[float64](t, c, nil))
		s.loadBatch([]int32{3, 1, 4, 15, 9, 26, 5, 35}, 0)
		params := s.net.Params()
		for _, at := range []int{0, len(params) - 2, len(params) - 1} {
			p := params[at]
			s.closure()
			want := append([]float64(nil), p.Grad...)
			for i := range min(len(p.Value), 40) {
				old, h := p.Value[i], 1e-5
				p.Value[i] = old + h
				up := s.closure()
				p.Value[i] = old - h
				down := s.closure()
				p.Value[i] = old
				if got := (up - down) / (2 * h); !(math.Abs(got-want[i]) <= 1e-7*(1+math.Abs(got))) {
					t.Fatalf("%s: %s[%d]: gradient %v, differences %v", kind, p.Name, i, want[i], got)
				}
			}
		}
	}
}

// TestObjectiveOfAnEpochIsThatOfTheWholeSet compares the row with what the optimiser sees of a batch that is the whole training set,
// in a network that computes the same in training and evaluation.
func TestObjectiveOfAnEpochIsThatOfTheWholeSet(t *testing.T) {
	for _, kind := range []optim.DecayKind{optim.DecayAll, optim.DecayPeeled, optim.DecayPeeledBatch} {
		c := tinyConfig()
		c.Optim.Kind, c.Optim.Decay, c.Run.DType, c.Net.BatchNorm, c.Run.Batch = "lbfgs", string(kind), "float64", false, 80
		if kind == optim.DecayAll {
			c.Optim.WeightDecay = 0.3
		} else {
			c.Optim.LambdaW, c.Optim.LambdaB, c.Optim.LambdaH = 0.3, 0.2, 0.02
		}
		s := tinySession[float64](t, c, nil)
		n := nativeOf(s)
		n.batches.Start(0)
		n.loadBatch(n.batches.Next(), 0)
		loss, want, _ := n.forwardBackward()
		rows, err := s.measureAll()
		if err != nil {
			t.Fatal(err)
		}
		if w, b := s.engine.head(); kind == optim.DecayPeeled {
			squares := func(v []float64) (sum float64) {
				for _, x := range v {
					sum += x * x / 2
				}
				return sum
			}
			if byHand := loss + 0.3*squares(w.Value) + 0.2*squares(b.Value) + 0.02*squares(s.train.features); !(math.Abs(byHand-want) <= 1e-12*want) {
				t.Errorf("peeled: the optimiser sees %v, by hand %v", want, byHand)
			}
		}
		found := false
		for _, r := range rows {
			if r.Measure != KeyObjective {
				continue
			}
			found = true
			if !(math.Abs(r.Value-want) <= 1e-12*want) || !(want > 1.001*loss) {
				t.Errorf("%s: objective %v, the optimiser sees %v, the loss is %v", kind, r.Value, want, loss)
			}
		}
		if !found {
			t.Errorf("%s: no objective", kind)
		}
	}
}

// TestLatentClassesAreMeasuredByObservedAndOriginalClass looks at what each split's rows are over.
func TestLatentClassesAreMeasuredByObservedAndOriginalClass(t *testing.T) {
	c := variant(t, "latent")
	s := tinySession[float32](t, c, nil)
	if s.classes != 4 || !s.in.train.Latent {
		t.Fatalf("%d outputs, wanted 4", s.classes)
	}
	rows, err := s.measureAll()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, r := range rows {
		if r.Missing == "" {
			found[r.Split+"/"+r.Measure] = r.Value
		}
	}
	for _, key := range []string{"train/accuracy", "train/accuracy_folded", "test/accuracy", "test/accuracy_folded", "test/dilation", "clean/accuracy", "train/nc1_pinv"} {
		if _, ok := found[key]; !ok {
			t.Errorf("no %s among %v", key, found)
		}
	}
	// By hand: the logits of every test sample.
	strict, folded, n := 0.0, 0.0, s.in.test.N()
	x := make([]float32, s.in.testPixel.Dim())
	for i := range n {
		data.FillRange(x, s.in.testPixel, i, i+1)
		largest := nn.Argmax(nativeOf(s).net.Forward(x, 1, nn.Eval).Logits)
		if label := int(s.in.test.True[i]); largest == label {
			strict++
			folded++
		} else if largest%2 == label {
			folded++
		}
	}
	if found["test/accuracy"] != strict/float64(n) || found["test/accuracy_folded"] != folded/float64(n) || strict == folded {
		t.Errorf("test accuracy %v, folded %v; by hand %v and %v of %d", found["test/accuracy"], found["test/accuracy_folded"], strict, folded, n)
	}
}

// TestTrainingPassMeasuresWhatTrainingSaw repeats an epoch by hand and compares the features it kept.
func TestTrainingPassMeasuresWhatTrainingSaw(t *testing.T) {
	c := variant(t, "training pass")
	kept, again := tinySession[float64](t, c, nil), nativeOf(tinySession[float64](t, c, nil))
	kept.keepTraining(true)
	w := watch{}
	if _, err := kept.epoch(context.Background(), 0, &w, nil); err != nil {
		t.Fatal(err)
	}
	again.batches.Start(0)
	seen := 0
	for samples := again.batches.Next(); samples != nil; samples = again.batches.Next() {
		again.loadBatch(samples, 0)
		loss, objective, out := again.forwardBackward()
		d := again.net.FeatureDim()
		for i, at := range samples {
			for j := range d {
				if got, want := kept.train.features[int(at)*d+j], out.Features[i*d+j]; got != want {
					t.Fatalf("sample %d: feature %d is %v, training computed %v", at, j, got, want)
				}
			}
			seen++
		}
		mean := 0.0
		for _, at := range samples {
			mean += kept.train.losses[at] / float64(len(samples))
		}
		if !(math.Abs(mean-loss) <= 1e-12*loss) {
			t.Fatalf("mean loss %v, the step's is %v", mean, loss)
		}
		again.opt.Step(again.cfg.Schedule.Rate(0), objective)
	}
	if seen != kept.in.train.N() {
		t.Errorf("%d of %d samples", seen, kept.in.train.N())
	}
}

// TestTappedLayersAreMeasured compares a layer's rows with a measurement of the layer computed by hand.
func TestTappedLayersAreMeasured(t *testing.T) {
	c := variant(t, "tapped")
	lab := newLab(t)
	r := mustRun(t, c, lab, Options{})
	s := tinySession[float32](t, c, nil)
	if len(s.taps) < 2 {
		t.Fatalf("taps %v", s.taps)
	}
	keys, err := lab.Keys(r.Run)
	if err != nil {
		t.Fatal(err)
	}
	layers := map[string]int{}
	for _, k := range keys {
		layers[k.Layer]++
	}
	for _, tap := range s.taps {
		v, ok := r.Values[tap.Name+"/train/nc1_pinv"]
		if !ok || !(v > 0) || layers[tap.Name] < 10 {
			t.Errorf("layer %s: NC1 %v (%v), %d series", tap.Name, v, ok, layers[tap.Name])
		}
	}
	// The last stage's outputs are the features.
	last := s.taps[len(s.taps)-1].Name
	if got, want := r.Values[last+"/train/nc1_pinv"], r.Values["train/nc1_pinv"]; got != want {
		t.Errorf("NC1 of %s is %v, of the features %v", last, got, want)
	}
	if _, there := r.Values[last+"/train/nc3_gram"]; there {
		t.Error("a layer without classifier has NC3")
	}
	c.Run.Taps = "layer9"
	if _, err := Run(context.Background(), c, lab, Options{Open: openOnce}); err == nil || !strings.Contains(err.Error(), `run.taps: "layer9" is none of the network's layers; wanted stages, or some of layers.`) {
		t.Errorf("a layer that is not there: %v", err)
	}
}

// measureAll evaluates the splits and computes every row of an epoch.
func (s *session[T]) measureAll() ([]row, error) {
	if err := s.passBoth(); err != nil {
		return nil, err
	}
	return s.measurePassed()
}
