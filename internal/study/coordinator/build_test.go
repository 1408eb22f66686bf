package coordinator

import (
	"context"
	"errors"
	"strings"
	"testing"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/version"
)

// TestAnotherBuildDoesNotContinueAStudy, unless the user says so: its numbers may differ. The error names both.
func TestAnotherBuildDoesNotContinueAStudy(t *testing.T) {
	t.Parallel()
	const other = "0.2.0+git.0123456789ab"
	configs := smallGrid()[:2]
	lab := saved(t, configs[:1])
	if s, err := Execute(t.Context(), lab, []string{"s"}, options(t, 1)); err != nil || s.Done != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	_, err := study.Save(lab, "s", "", "", itemsOf(t, configs))
	must(t, err)
	o := options(t, 1)
	o.Queue.Version = other
	_, err = Execute(t.Context(), lab, []string{"s"}, o)
	var refused *BuildError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), other) || !strings.Contains(err.Error(), "1 by collapse "+version.ID()) {
		t.Fatalf("%v, want a BuildError with both builds", err)
	}
	o.OtherBuild = true
	if s, err := Execute(t.Context(), lab, []string{"s"}, o); err != nil || s != (Summary{Runs: 2, Done: 2}) {
		t.Fatalf("%+v, %v", s, err)
	}
	if s, err := Execute(t.Context(), lab, []string{"s"}, Options{Queue: queue.Options{Version: other}}); err != nil || s.Done != 2 {
		t.Errorf("a study that is done: %+v, %v", s, err)
	}
}

// TestAWorkerOfAnotherBuildDoesNotJoin, and says which build it has to be.
func TestAWorkerOfAnotherBuildDoesNotJoin(t *testing.T) {
	t.Parallel()
	lab := saved(t, smallGrid()[:1])
	o := remoteOptions(t)
	url := urlOf(&o)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := Execute(ctx, lab, []string{"s"}, o); ended <- err }()
	b, err := queue.Connect(queue.Remote{URL: <-url, Token: "secret"}, queue.Options{Version: version.Version + "+git.0123456789ab"})
	must(t, err)
	defer b.Close()
	err = b.Work(t.Context(), queue.WorkerOptions{}, func(context.Context, *queue.Task) ([]byte, error) { return nil, errors.New("not reached") })
	var refused *queue.VersionError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "+git.0123456789ab") || !strings.Contains(err.Error(), "install "+version.ID()) {
		t.Errorf("%v, want a VersionError with both builds", err)
	}
	stop()
	<-ended
}
