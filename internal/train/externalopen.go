package train

import (
	"context"
	"fmt"
	"path/filepath"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/optim"
)

// engineNet is traceNet, plus what is needed to build a network.
type engineNet struct {
	traceNet
	StemWidth  int  `json:"stem_width"`
	FeatureDim int  `json:"feature_dim"`
	Bias       bool `json:"bias"` // fc has one
}

// engineDecay is traceDecay, plus the decay of every parameter if it is in the loss.
type engineDecay struct {
	traceDecay
	All float64 `json:"all"`
}

// engineOptim is traceOptim, plus the settings of L-BFGS.
type engineOptim struct {
	traceOptim
	LBFGS engineLBFGS `json:"lbfgs"`
}

type engineLBFGS struct {
	LineSearch      string  `json:"line_search"`
	MaxIter         int     `json:"max_iter"`
	MaxEval         int     `json:"max_eval"`
	History         int     `json:"history"`
	ToleranceGrad   float64 `json:"tolerance_grad"`
	ToleranceChange float64 `json:"tolerance_change"`
}

// open implements backend: it hands the images and the initial weights to the process.
func (x *external[T]) open(ctx context.Context, run string, files rundir.Writer, ignoreMemory bool) error {
	info := x.witness.traceInfo()
	info.Net.Convs = nil
	order := engine.Open{Run: run, Classes: info.Classes, Inputs: info.Inputs, Loss: info.Loss, Frozen: x.frozen(), Taps: []engine.Tap{}}
	for _, t := range x.taps {
		order.Taps = append(order.Taps, engine.Tap{Name: t.Name, Pool: x.cfg.Run.TapPool})
	}
	if err := x.begin(ctx, order, info, files, ignoreMemory); err != nil {
		return err
	}
	model, optim, err := x.witness.save()
	if err != nil {
		return err
	}
	return x.load(model, optim)
}

// begin completes the order to open a run, and sends it.
func (l *link) begin(ctx context.Context, order engine.Open, info traceInfo, files rundir.Writer, ignoreMemory bool) error {
	l.ctx = ctx
	dir, err := filepath.Abs(files.Exchange())
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if l.folder, err = engine.NewFolder(dir); err != nil {
		return err
	}
	l.describe(&order, info)
	if err := l.putImages(order.Splits); err != nil {
		return err
	}
	answer, err := l.do("open", order, nil)
	if err != nil {
		return err
	}
	if answer.Free > 0 && answer.Bytes > answer.Free && !ignoreMemory {
		return &DeviceMemoryError{Device: l.seat.Device().Title, Need: answer.Bytes, Free: answer.Free, Batch: l.cfg.Run.Batch}
	}
	if l.here.Kernel, err = machineText(answer.Machine); err != nil {
		return l.broken("%v", err)
	}
	return nil
}

// describe fills in the configuration's part of the order.
func (l *link) describe(o *engine.Open, info traceInfo) {
	c, a, b := l.cfg, l.cfg.arch(l.in.sizes()), l.cfg.Optim.LBFGS
	decay := engineDecay{traceDecay: info.Decay}
	if c.Decay.Kind == optim.DecayAll && c.Decay.InLoss {
		decay.All = c.Decay.All
	}
	o.Dir, o.Device, o.Threads, o.DType, o.Precision = string(l.folder), l.seat.Device().Name, l.threads, c.Run.DType, c.Run.Precision
	o.Seed, o.Batch, o.Pad = c.Run.Seed, c.batch(l.in.sizes()), l.augment.Pad
	o.Net = engineNet{info.Net, a.StemWidth, a.FeatureDim, !a.NoClassifierBias}
	o.Decay = decay
	o.Optim = engineOptim{info.Optim, engineLBFGS(b)}
	o.Splits = []string{splitTrain, splitTest}
	if l.in.held != nil {
		o.Splits = append(o.Splits, splitHeld)
	}
	if members := l.seat.Members(); members > 1 {
		o.Members = members
	}
}

// putImages writes the images of the splits, the labels to train on, and how pixels are transformed.
func (l *link) putImages(splits []string) error {
	for _, split := range splits {
		pixels, image := l.in.pixels(split).Stored()
		n := l.in.pixels(split).N()
		if err := l.folder.PutArray(split+".pixels.npy", arrayfile.Of("", []int{n, image.C, image.H, image.W}, pixels)); err != nil {
			return err
		}
		if err := l.folder.PutArray(split+".labels.npy", arrayfile.Of("", []int{n}, l.in.set(split).Observed)); err != nil {
			return err
		}
	}
	return l.folder.PutArray("table.npy", arrayfile.Of("", []int{l.in.trainPixel.Shape.C, 256}, l.in.trainPixel.Table()))
}

// set returns the data of a split.
func (in *inputs) set(split string) *data.Set {
	switch split {
	case splitTest:
		return in.test
	case splitHeld:
		return in.held
	}
	return in.train
}
