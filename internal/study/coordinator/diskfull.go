package coordinator

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// FullError is returned when the disk of the lab is full. Finished runs are safe; the others continue from their checkpoints.
type FullError struct {
	Dir     string // of the lab
	Studies []string
	Cause   error
}

func (e *FullError) Error() string {
	return fmt.Sprintf("study: the disk of the lab %s is full; nothing that was computed is lost: make space there (`collapse runs gc` frees some), "+
		"then continue with: collapse study resume %s (%v)", e.Dir, strings.Join(e.Studies, " "), e.Cause)
}

func (e *FullError) Unwrap() error { return e.Cause }

// diskEvery is the time between checks that the queue has room for more messages.
const diskEvery = 2 * time.Second

// watchDisk ends the work when the embedded server runs out of disk, since everybody would wait for it.
func (e *coordinator) watchDisk(ctx context.Context) error {
	look := time.NewTicker(diskEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C:
			if err := e.server.CheckDisk(); err != nil {
				return err
			}
		}
	}
}
