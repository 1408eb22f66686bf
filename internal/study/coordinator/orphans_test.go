package coordinator

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study/worker"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/version"
)

// TestALeaseWithoutAJobIsGivenUp: the queue says that somebody computes a run, but there is no job for it and nobody will report.
// Without intervention the study would wait forever.
func TestALeaseWithoutAJobIsGivenUp(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	configs := []train.Config{tiny()}
	lab := saved(t, configs)
	hash := itemsOf(t, configs)[0].Hash
	url := openServer(t)
	opt := quickQueue()
	opt.Version, opt.Logf = version.ID(), t.Logf
	b, err := queue.Connect(queue.Remote{URL: url}, opt)
	must(t, err)
	owner, err := ownerOf(lab)
	must(t, err)
	_, err = b.Coordinate(t.Context(), owner)
	must(t, err)
	b.Close()
	conn, err := nats.Connect(url)
	must(t, err)
	defer conn.Close()
	must(t, conn.Publish("$KV.collapse-claims.claim."+hash, []byte(`{"worker":"ghost","nonce":"n","held":true,"attempt":1}`)))
	must(t, conn.Flush())
	o := options(t, 0)
	o.Remote = &queue.Remote{URL: url}
	ended := make(chan error, 1)
	go func() {
		s, err := Execute(t.Context(), lab, []string{"s"}, o)
		if err == nil && s != (Summary{Runs: 1, Done: 1}) {
			err = fmt.Errorf("%+v", s)
		}
		ended <- err
	}()
	startWorker(t, url, worker.Options{})
	select {
	case err := <-ended:
		must(t, err)
	case <-time.After(2 * time.Minute):
		t.Fatal("the study waits for a worker that does not exist")
	}
}
