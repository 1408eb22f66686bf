package queue

import (
	"context"
	"testing"
	"time"
)

// TestTraffic: results that nobody has read yet count as unread, whether somebody reads or not.
func TestTraffic(t *testing.T) {
	_, c, b := local(t, quick(t))
	traffic := func(unread uint64) {
		t.Helper()
		got, err := b.Traffic(t.Context())
		for start := time.Now(); err == nil && got.Unread != unread && time.Since(start) < 20*time.Second; time.Sleep(5 * time.Millisecond) {
			got, err = b.Traffic(t.Context()) // an acknowledgement is on its way
		}
		if err != nil || got.Unread != unread {
			t.Errorf("%+v, %v; want %d unread", got, err, unread)
		}
	}
	traffic(0)
	must(t, c.Submit(soon(t), jobs(3)...))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{}, 3)
	go b.Work(ctx, WorkerOptions{}, func(_ context.Context, task *Task) ([]byte, error) {
		defer func() { ended <- struct{}{} }()
		return nil, task.Send(ctx, []byte("row"))
	})
	for range 3 {
		next(t, "the end of three jobs", ended)
	}
	traffic(6)
	go c.Receive(ctx, func([]Message) error { return nil })
	traffic(0)
	if got, err := b.Traffic(t.Context()); err != nil || got.Results != 6 || got.Leases < 3 {
		t.Errorf("%+v, %v", got, err)
	}
}
