package cli

import (
	"fmt"

	"collapse/internal/store"
)

// openLab opens the lab for writing. Work under way waits, and says so, while another process holds up the lab's writers.
func (a *app) openLab() (*store.Lab, error) {
	return store.Open(a.flags.Lab, store.Options{Context: a.ctx, Waiting: func(e *store.BusyError) {
		fmt.Fprintf(a.stderr, "collapse: waiting: %v\n", e)
	}})
}
