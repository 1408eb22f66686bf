package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"collapse.example/collapse/internal/descriptors"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// localTrouble handles an error that ended a run in a slot of this process. If a disk is full or broken, it is the lab's, so another
// attempt would end the same way: the work ends, and nothing is lost. The same holds for a lab that is damaged, or no longer where it was. Any other trouble of this machine does not count as an attempt
// of the run while another worker may do it, or this machine once another run has ended.
func (e *coordinator) localTrouble(hash string, err error) error {
	moved := e.lab.Moved()
	switch {
	case err != nil && moved != nil:
		e.abort(moved)
		return queue.Unfit(moved)
	case store.IsDamaged(err):
		e.abort(fmt.Errorf("study: the tables of the lab %s are damaged, or not this program's; what is wrong says: collapse lab check: %w", e.lab.Dir(), err))
		return queue.Unfit(err)
	case err == nil || queue.IsFailure(err) || !study.MachineTrouble(err):
		return err
	case store.IsFull(err):
		e.abort(err)
		return queue.Unfit(err)
	case study.DiskTrouble(err):
		e.abort(fmt.Errorf("study: the disk of the lab %s cannot be used; nothing that was computed is lost: fix that, then continue with: collapse study resume %s: %w",
			e.lab.Dir(), strings.Join(e.names, " "), err))
		return queue.Unfit(err)
	}
	e.progress(hash, "", study.Progress{})
	var here *study.MachineError
	var memory *train.MemoryError
	shared := e.o.Listen != "" || e.o.Remote != nil
	alone := e.nobodyWorks()
	if !shared && errors.As(err, &here) && here.Stops {
		e.abort(fmt.Errorf("%w; nothing that was computed is lost: continue with: collapse study resume %s", here.Err, strings.Join(e.names, " ")))
		return queue.Unfit(err)
	}
	if !shared && (errors.As(err, &here) || alone && errors.As(err, &memory)) {
		return err // trying again would not help; the run says why
	}
	return queue.Unfit(err)
}

// persist does a part of the coordinator's work again whenever it ends because too many files are open: that passes, and every part
// can begin anew.
func (e *coordinator) persist(ctx context.Context, part func(context.Context) error) error {
	for {
		err := Contained(func() error { return part(ctx) })
		if ctx.Err() != nil || !descriptors.Scarce(err) {
			return err
		}
		e.scarce.Do(func() {
			e.o.Logf("this process has too many files and connections open; waiting until there are fewer (%v)", err)
		})
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}
