package cli

import (
	"fmt"
	"text/tabwriter"

	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/internal/safetext"
)

type benchLayersCmd struct {
	benchNet `embed:""`
}

func (c benchLayersCmd) Run(a *app) error {
	r, err := timeNet(a, c.benchNet, bench.Layers)
	if err != nil {
		return err
	}
	return a.emit(r, func() {
		a.printf("%s, batch %d, %d threads, kernel %s: %.1f ms per step, %.1f %% of it between operations; limit %.0f GFLOP/s\n\n", r.Net, r.Batch, r.Threads, r.Kernel, r.StepMS, 100*r.Uncounted, r.PeakGFLOPS)
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "layer\toperation\talgorithm\tms\tshare\tGFLOP/s\tuseful\tof the limit\t")
		for _, o := range r.Operations {
			rates := "\t\t"
			if o.GFLOPS > 0 {
				rates = fmt.Sprintf("%.1f\t%.1f\t%.0f %%", o.GFLOPS, o.UsefulGFLOPS, 100*o.FractionOfPeak)
			}
			safetext.Fprintf(w, "%s\t%s\t%s\t%.3f\t%.1f %%\t%s\t\n", o.Layer, o.Op, o.Algorithm, o.MS, 100*o.Share, rates)
		}
		fmt.Fprintln(w, "\t\t\t\t\t\t\t\t")
		for _, k := range r.Kinds {
			safetext.Fprintf(w, "all layers\t%s\t\t%.3f\t%.1f %%\t\t\t\t\n", k.Op, k.MS, 100*k.Share)
		}
		w.Flush()
	})
}
