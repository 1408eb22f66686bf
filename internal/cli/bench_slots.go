package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/internal/safetext"
)

type benchSlotsCmd struct {
	Time time.Duration `default:"5s" help:"How long to measure: each arrangement." placeholder:"D"`
}

func (c benchSlotsCmd) Run(a *app) error {
	a.onlyComputes()
	r, err := bench.Slots(a.flags.Threads, c.Time)
	if err != nil {
		return err
	}
	return a.emit(r, func() {
		a.printf("%s, kernel %s, %d threads\n\n", r.CPU, r.Kernel, r.Threads)
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "network\tbatch\truns side by side\tthreads each\timages per hour\tof one run's\t")
		for _, n := range r.Nets {
			for _, way := range n.Ways {
				safetext.Fprintf(w, "%s\t%d\t%d\t%d\t%.0f\t%.2f\t\n", n.Net, n.Batch, way.Slots, way.ThreadsEach, way.ImagesPerHour, way.ImagesPerHour/n.Ways[0].ImagesPerHour)
			}
		}
		w.Flush()
		a.printf("\nslots for a worker that trains small networks: %d\n", r.Slots)
	})
}
