package cli

import (
	"fmt"
	"text/tabwriter"

	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/parallel"
)

type benchScalingCmd struct {
	benchNet     `embed:""`
	ThreadCounts []int `help:"Numbers of threads; default: 1, 2, 4 … 64." placeholder:"N,…"`
}

func (benchScalingCmd) Help() string {
	return `Times each part of a step on one thread, and plays the parts through for more threads: each goes to the first that is free. A forecast knows
neither of caches and memory that threads share nor of clocks that fall. Where the machine has the processors, the step is timed, too.`
}

func (c benchScalingCmd) Run(a *app) error {
	at := c.ThreadCounts
	if len(at) == 0 {
		at = []int{1, 2, 4, 8, 16, 32, 64}
	}
	for _, n := range at {
		if n < 1 {
			return usagef("--thread-counts %d: wanted at least 1", n)
		}
	}
	r, err := timeNet(a, c.benchNet, func(cfg bench.TrainConfig, _ *parallel.Team) (bench.Scaling, error) { return bench.Scale(cfg, at) })
	if err != nil {
		return err
	}
	return a.emit(r, func() {
		a.printf("%s, batch %d, kernel %s: %d jobs a step, %.2f ms outside of them\n\n", r.Net, r.Batch, r.Kernel, r.Jobs, r.SerialMS)
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "threads\tforecast, ms\tgain\tof ideal\tmeasured, ms\t")
		for _, row := range r.Rows {
			seen := "–"
			if row.MeasuredMS != nil {
				seen = fmt.Sprintf("%.1f", *row.MeasuredMS)
			}
			safetext.Fprintf(w, "%d\t%.1f\t%.2f\t%.0f %%\t%s\t\n", row.Threads, row.ForecastMS, row.Gain, 100*row.Gain/float64(row.Threads), seen)
		}
		w.Flush()
	})
}
