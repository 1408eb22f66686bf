package cli

import (
	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/measure"
)

type benchMeasureCmd struct {
	N int `name:"n" default:"50000" help:"Samples in total." placeholder:"N"`
	D int `name:"d" default:"512" help:"Width of the features." placeholder:"D"`
	K int `name:"k" default:"10" help:"Classes." placeholder:"K"`

	Measures []string `default:"default" complete:"measures" help:"What is measured: default, all, or keys of docs/measures.md, separated by commas." placeholder:"LIST"`

	Null int `help:"How often labels are shuffled to see what measures come to by chance; 0: never. Timed as a separate stage." default:"0" placeholder:"N"`

	Spread float64 `default:"0.05" help:"Spread of samples around their class mean, where means have size 1; from about 1 on no sample is near its own mean." placeholder:"S"`
}

func (c benchMeasureCmd) Run(a *app) error {
	a.onlyComputes()
	r, err := bench.Measure(c.N, c.D, c.K, c.Spread, a.flags.Threads, measure.Options{Measures: c.Measures, Uncertainty: true, Null: c.Null})
	if err != nil {
		return err
	}
	return a.emit(r, func() {
		a.printf("N=%d d=%d K=%d, %d threads, kernel %s\nseconds     %.3f (best of %d)\nfirst pass  %.1f GB/s, %.2f of reading's %.1f\nNC1         %.2f of the peak's %.0f GFLOP/s\nmemory      %.0f MB beside the mapped file\n",
			r.N, r.D, r.K, r.Threads, r.Kernel, r.Seconds, r.Runs, r.Pass1GBs, r.Pass1, r.ReadGBs, r.NC1, r.FMAAll, r.RSSMB)
		for _, p := range r.Breakdown {
			a.printf("  %-14s %.3f s\n", p.Name, p.Seconds)
		}
	})
}
