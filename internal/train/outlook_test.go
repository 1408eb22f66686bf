package train

import (
	"math"
	"reflect"
	"testing"

	"collapse.example/collapse/data"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// TestFLOPByHand counts what a perceptron's and a convolutional network's runs take from the numbers of their samples, and what they
// really pass forward from the shapes alone.
func TestFLOPByHand(t *testing.T) {
	c := tinyConfig() // 2 classes of 40 training and 20 test images, 3 epochs, 2 hidden layers of 16, features as wide as classes
	open := func(c Config) Outlook {
		t.Helper()
		o, err := Foresee(c, openOnce)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	const forward = 28*28*16 + 16*16 + 16*2 + 2*2
	want := func(macs, trained, evaluated int64) float64 { return 2 * float64(macs) * float64(3*trained+evaluated) }
	if o := open(c); o.FLOP() != want(forward, 3*80, 3*(80+40)) || o.FLOP() == 0 {
		t.Errorf("perceptron: %v from %+v, by hand %v", o.FLOP(), o, want(forward, 3*80, 3*120))
	}
	for name, other := range map[string]struct {
		set       func(*Config)
		evaluated int64
	}{
		"every second epoch and the last":            {func(c *Config) { c.Run.MeasureEvery = 2 }, 2 * 120},
		"features of an epoch without measures":      {func(c *Config) { c.Run.MeasureEvery, c.Run.SaveFeatures = 3, "1" }, 2 * 120},
		"on the training pass, once more at the end": {func(c *Config) { c.Run.MeasureFrom = fromTraining }, 3*40 + 120},
	} {
		c := tinyConfig()
		other.set(&c)
		if o := open(c); o.FLOP() != want(forward, 3*80, other.evaluated) {
			t.Errorf("%s: %v, by hand %v", name, o.FLOP(), want(forward, 3*80, other.evaluated))
		}
	}
	held := tinyConfig()
	held.Data.Validation = 0.25
	if o := open(held); o.FLOP() != want(forward, 3*60, 3*120) {
		t.Errorf("a quarter held out: %v, by hand %v", o.FLOP(), want(forward, 3*60, 3*120))
	}
	image := tinyConfig()
	image.Net, image.Run.Epochs = Default().Net, 2
	image.Net.Kind, image.Net.StemWidth, image.Net.Depth, image.Net.Width = nn.KindAdapt, 1, 0, 0
	// Maps of 28×28, 14×14, 7×7 and 4×4: a stem, then two blocks a stage, from the second on with a shortcut of 1×1.
	const conv = 1*1*9*784 + 4*9*784 + (1*2*9+3*2*2*9+1*2)*196 + (2*4*9+3*4*4*9+2*4)*49 + (4*8*9+3*8*8*9+4*8)*16 + 8*2
	if o := open(image); o.FLOP() != want(conv, 2*80, 2*120) {
		t.Errorf("convolutional network: %v from %+v, by hand %v", o.FLOP(), o.Arch, want(conv, 2*80, 2*120))
	}
}

// TestARunNotesWhatItCost: time on two threads counts twice, and epochs of a shorter run are not counted.
func TestARunNotesWhatItCost(t *testing.T) {
	team := parallel.NewTeam(2)
	defer team.Close()
	lab, c := newLab(t), tinyConfig()
	c.Run.Epochs = 2
	short := mustRun(t, c, lab, Options{Team: team, Open: openOnce})
	c.Run.Epochs = 4
	long := mustRun(t, c, lab, Options{Open: openOnce, From: short.Run})
	for hash, epochs := range map[string][]int64{short.Run: {1, 2}, long.Run: {3, 4}} {
		points, err := lab.Series(hash, SpentKey)
		if err != nil || len(points) != len(epochs) {
			t.Fatalf("%v, %v", points, err)
		}
		run, err := lab.Run(hash)
		if err != nil {
			t.Fatal(err)
		}
		sum, threads := 0.0, 1.0
		if hash == short.Run {
			threads = 2
		}
		for i, p := range points {
			sum += p.Value
			if p.Step != epochs[i] {
				t.Errorf("epoch %d, wanted %d", p.Step, epochs[i])
			}
		}
		// The lab keeps times to the millisecond. Writing the features comes after the last epoch.
		wall := threads * (run.Finished.Sub(run.Started).Seconds() + 0.002)
		if !(sum > 0.2*wall && sum <= wall) || math.IsNaN(sum) {
			t.Errorf("%v s of epochs in %v s of %v threads", sum, wall, threads)
		}
	}
}

// TestForeseenWithoutFiles: official sizes give what the data give, held out and with latent classes too.
func TestForeseenWithoutFiles(t *testing.T) {
	plain, held, latent, folded := tinyConfig(), tinyConfig(), tinyConfig(), tinyConfig()
	held.Data.Validation = 0.3
	latent.Data.NoiseKind, latent.Data.Noise = data.NoiseLatent, 0.2
	folded.Data.Pipeline = data.PipelineMD
	for name, c := range map[string]Config{"plain": plain, "held out": held, "latent": latent, "resized": folded} {
		want, err := Foresee(c, openOnce)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ForeseeOfficial(c)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, with the data %+v; %v", name, got, want, err)
		}
	}
	c := tinyConfig()
	c.Data.Name, c.Data.Classes, c.Data.SamplesPerClass, c.Data.TestSamplesPerClass = "svhn", 2, 0, 0
	if o, err := ForeseeOfficial(c); err != nil || o.Trained != 3*(4948+13861) || o.Arch.Channels != 3 {
		t.Errorf("the digits 0 and 1 of SVHN: %+v, %v", o, err)
	}
	c.Data.Name = "folder"
	if _, err := ForeseeOfficial(c); err == nil {
		t.Error("a folder has an official size")
	}
}

// TestMostFLOPOfLBFGS: a step counts as many passes as it may take, and measuring counts once.
func TestMostFLOPOfLBFGS(t *testing.T) {
	const forward = 28*28*16 + 16*16 + 16*2 + 2*2
	for _, c := range []struct {
		kind, search      string
		evaluations, iter int64
	}{{"sgd", "", 1, 0}, {"lbfgs", "none", 4, 4}, {"lbfgs", "none", 6, 9}, {"lbfgs", "strong_wolfe", 6, 4}} {
		cfg := tinyConfig()
		if cfg.Optim.Kind = c.kind; c.kind == "lbfgs" {
			cfg.Optim.LBFGS.LineSearch, cfg.Optim.LBFGS.MaxIter, cfg.Optim.LBFGS.MaxEval = c.search, int(c.iter), 6
		}
		o, err := ForeseeOfficial(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if want := 2 * float64(forward*(3*3*80*c.evaluations+3*120)); o.MostFLOP() != want {
			t.Errorf("%+v: %v, by hand %v", c, o.MostFLOP(), want)
		}
	}
}
