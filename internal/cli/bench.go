package cli

import (
	"fmt"
	"text/tabwriter"

	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/internal/safetext"
)

type benchCmd struct {
	Peak    benchPeakCmd    `cmd:"" help:"What this machine can do: multiply-adds and bytes per second."`
	Gemm    benchGemmCmd    `cmd:"" help:"The three matrix products of training, against the peak."`
	Train   benchTrainCmd   `cmd:"" help:"A whole training step or an evaluation, against the peak."`
	Layers  benchLayersCmd  `cmd:"" help:"Each layer and operation of a training step: its time, rate and share."`
	Scaling benchScalingCmd `cmd:"" help:"How a training step or an evaluation would scale to more threads, by the times of its parts."`
	Slots   benchSlotsCmd   `cmd:"" help:"Whether several runs side by side do more than one run on all threads."`
	Measure benchMeasureCmd `cmd:"" help:"The measures of collapse on synthetic features: seconds, bytes per second, the share of each part."`
	Queue   benchQueueCmd   `cmd:"" help:"What a study on very many workers needs from its coordinator, tested with workers that only sleep."`
}

type benchPeakCmd struct{}

func (benchPeakCmd) Run(a *app) error {
	a.onlyComputes()
	l, err := bench.Peak(a.flags.Threads)
	if err != nil {
		return err
	}
	return a.emit(l, func() {
		a.printf("%s, kernel %s, %d threads\nfloat32 multiply-adds  %.0f GFLOP/s on one thread, %.0f on all\nfloat64 multiply-adds  %.0f GFLOP/s on all\nreading from memory    %.1f GB/s on all\n",
			l.CPU, l.KernelName, l.Threads, l.FMA1, l.FMAAll, l.FMA64All, l.ReadGBs)
	})
}

type benchGemmCmd struct {
	Repeats int `default:"20" help:"Timed products of each form." placeholder:"N"`
}

func (c benchGemmCmd) Run(a *app) error {
	a.onlyComputes()
	r, err := bench.Gemm(a.flags.Threads, c.Repeats, bench.LayerShapes)
	if err != nil {
		return err
	}
	return a.emit(r, func() {
		a.printf("%s, kernel %s, %d threads; limits %.0f (float32) and %.0f GFLOP/s (float64)\n\n", r.CPU, r.Kernel, r.Threads, r.FMAAll, r.FMA64All)
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "form\ttype\tm\tn\tk\tbest GFLOP/s\tmedian\tof the limit\t")
		for _, p := range r.Rates {
			safetext.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%.1f\t%.1f\t%.0f %%\t\n", p.Form, p.DType, p.M, p.N, p.K, p.Best, p.Median, 100*p.Fraction)
		}
		w.Flush()
	})
}
