package worker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnIdleWorkerEnds: once no run has been under way for its time, counted from the end of the last.
func TestAnIdleWorkerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, idle := leaving(t.Context(), time.Minute)
		defer idle.stop()
		time.Sleep(59 * time.Second)
		first := idle.busy()
		time.Sleep(time.Hour)
		second := idle.busy()
		first()
		time.Sleep(time.Hour)
		second()
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if err := ctx.Err(); err != nil {
			t.Fatalf("it ended too early: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), ErrIdle) {
			t.Errorf("it goes on: %v", context.Cause(ctx))
		}
		patient, idle := leaving(t.Context(), 0)
		defer idle.stop()
		idle.busy()()
		time.Sleep(1000 * time.Hour)
		if patient.Err() != nil {
			t.Error("a worker without a time ended")
		}
	})
}
