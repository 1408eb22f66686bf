package parity

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Rate is how fast an engine trains a network.
type Rate struct {
	Net        string  `json:"net"`
	Engine     string  `json:"engine"`
	Precision  string  `json:"precision"`
	Batch      int     `json:"batch"`
	ImagesPerS float64 `json:"images_per_s"`      // of the last epoch
	GFLOPS     float64 `json:"gflops"`            // as train.Outlook counts: 6 for each multiply-add of a sample
	Refused    string  `json:"refused,omitempty"` // why there is none
}

// timed are the networks whose rates are taken, on 32×32 images in 10 classes.
var timed = []struct {
	net      string
	settings []string
}{
	{"mlp 9x2048", []string{"net.kind=mlp"}},
	{"resnet18", []string{"net.kind=resnet18"}},
	{"resnet18 cifar", []string{"net.kind=resnet18", "net.stem=cifar"}},
}

// Rates times training on so many samples a class and batches of a size, at every precision.
func (k *Checker) Rates(ctx context.Context, perClass, batch int) (list []Rate, err error) {
	for _, t := range timed {
		for _, how := range []struct{ engine, precision string }{{"go", "float32"}, {"torch", "float32"}, {"torch", "tf32"}, {"torch", "bf16"}} {
			r := Rate{Net: t.net, Engine: how.engine, Precision: how.precision, Batch: batch}
			settings := append([]string{"data.name=glyphs", "data.classes=10", fmt.Sprint("data.samples_per_class=", perClass), "data.test_samples_per_class=1",
				"data.pipeline=md", "run.epochs=2", "run.measure_every=2", fmt.Sprint("run.batch=", batch), "run.engine=" + how.engine, "run.precision=" + how.precision}, t.settings...)
			r.ImagesPerS, r.GFLOPS, err = k.Speed(ctx, settings)
			var refused *engine.Error
			switch {
			case ctx.Err() != nil:
				return list, context.Cause(ctx)
			case errors.As(err, &refused) && refused.Kind != engine.Failed:
				r.Refused = refused.Message
			case err != nil:
				return list, err
			}
			list = append(list, r)
		}
	}
	return list, nil
}

// Speed trains a run of the settings and returns the images a second of its last epoch, and the arithmetic that they are.
func (k *Checker) Speed(ctx context.Context, settings []string) (imagesPerS, gflops float64, err error) {
	cfg, err := train.LoadShared(settings...)
	if err != nil {
		return 0, 0, err
	}
	o, err := train.Foresee(cfg, k.open)
	if err != nil {
		return 0, 0, err
	}
	imagesPerS, err = k.rate(ctx, cfg, k.Members)
	return imagesPerS, imagesPerS * 6 * float64(o.MACs) / 1e9, err
}

// Like returns the rate of runs like cfg: that of two epochs of a few steps.
func (k *Checker) Like(ctx context.Context, cfg train.Config) (imagesPerS float64, err error) {
	members, err := k.useful(ctx, cfg)
	if err != nil {
		return 0, err
	}
	return k.rate(ctx, short(cfg), members)
}

// shortSteps is how many steps an epoch of a short run has, about.
const shortSteps = 4

// short is cfg with two epochs of a few steps. What is measured and kept, and how the rate falls, is no part of a step.
func short(c train.Config) train.Config {
	d := train.Default()
	c.Data.Samples, c.Data.TestSamples, c.Data.Validation = 0, 0, 0
	c.Data.NoiseTruncate = false
	if few := (shortSteps*c.Run.Batch + max(c.Data.Classes, 1) - 1) / max(c.Data.Classes, 1); c.Data.SamplesPerClass == 0 || few < c.Data.SamplesPerClass {
		c.Data.SamplesPerClass = few
	}
	c.Data.TestSamplesPerClass = 1
	c.Optim.Schedule = d.Optim.Schedule
	c.Optim.Schedule.Kind = "constant"
	c.Run.Epochs, c.Run.MeasureEvery, c.Run.MeasureStart, c.Run.MeasureFrom = 2, 2, false, d.Run.MeasureFrom
	c.Run.Taps, c.Run.TapPool, c.Run.SaveFeatures, c.Run.Keep, c.Run.CheckpointEvery = d.Run.Taps, d.Run.TapPool, d.Run.SaveFeatures, d.Run.Keep, 2
	return c
}

// rate is the rate of a run's last epoch, or of so many runs in one batch together, if they can be.
func (k *Checker) rate(ctx context.Context, cfg train.Config, runs int) (rate float64, err error) {
	if runs < 1 || !cfg.Shares() {
		runs = 1
	}
	err = k.inLab(func(lab *store.Lab) error {
		sinks, errs := make([]lastRate, runs), make([]error, runs)
		var all sync.WaitGroup
		for i := range sinks {
			opts, cfg := k.options(), cfg
			opts.Sink, cfg.Run.Seed = &sinks[i], cfg.Run.Seed+uint64(i)
			if runs > 1 {
				opts.Ensemble, opts.Team = train.Ensemble{Members: runs, Threads: k.Team.Threads(), Exactly: true}, nil
			}
			all.Go(func() { _, errs[i] = train.Run(ctx, cfg, lab, opts) })
		}
		all.Wait()
		for _, s := range sinks {
			rate += s.rate
		}
		return errors.Join(errs...)
	})
	return rate, err
}

// useful is how many runs like cfg a study would compute in one batch.
func (k *Checker) useful(ctx context.Context, cfg train.Config) (int, error) {
	if k.Members < 2 || !cfg.Shares() {
		return 1, nil
	}
	device, _, err := k.Engines.Device(ctx)
	if err != nil {
		return 0, err
	}
	o, err := train.Foresee(cfg, k.open)
	return o.Members(device, k.Members), err
}

// lastRate keeps the rate of the last epoch. A run tells that of all its epochs together, of which the first warms up.
type lastRate struct {
	rate    float64
	samples int     // of an epoch
	spent   float64 // seconds of the epochs so far
}

func (l *lastRate) Started(s train.Started) { l.samples = s.TrainSamples }
func (*lastRate) Step(train.StepDone)       {}
func (*lastRate) Note(string)               {}
func (l *lastRate) Epoch(e train.EpochDone) {
	spent := float64(e.Epoch*l.samples) / e.ImagesPerSecond
	l.rate, l.spent = float64(l.samples)/(spent-l.spent), spent
}
