package coordinator

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/study/worker"
)

// openServer is a foreign NATS with JetStream, in which everybody may do everything.
func openServer(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	must(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

// litter publishes garbage about runs on every subject and bucket. generation is one that a result may have.
func litter(t *testing.T, conn *nats.Conn, hashes []string, generation string) {
	t.Helper()
	put := func(subject, data string, headers ...string) {
		m := nats.NewMsg(subject)
		m.Data = []byte(data)
		for i := 0; i < len(headers); i += 2 {
			m.Header.Set(headers[i], headers[i+1])
		}
		must(t, conn.PublishMsg(m))
	}
	result := func(hash, kind, generation, attempt, data string) {
		put("collapse.res."+hash, data, "Type", kind, "Generation", generation, "Attempt", attempt, "Worker", "w\x1b[2J", "Error", strings.Repeat("no ", 10_000))
	}
	rows := func(epoch int64, v store.Value) string {
		return string(wire.EncodeRows(store.EpochRows{Epoch: epoch, Rows: []store.Value{v}})[0])
	}
	deep := strings.Repeat("[", 300_000)
	value := store.Value{Key: store.Key{Series: "epoch", Split: "train", Measure: "garbage"}, Step: 1, Value: 1}
	put("collapse.res.bad%id", "x")
	put("collapse.job.p1.bad%job", "x")
	put("collapse.job.p7.bad", "x")
	put("collapse.notice", deep)
	put("collapse.stop", "bad%id")
	put("$KV.collapse-claims.info", "garbage")
	put("$KV.collapse-claims.claim.bad%id", "garbage")
	put("$O.collapse-blobs.M.garbage", "garbage")
	for i, hash := range hashes {
		other := fmt.Sprintf("%064x", i)
		put("collapse.job.p0."+hash, deep)
		put("collapse.job.p9."+hash, "x")
		put("collapse.job.p1."+other, "x", "Version", "0.0", "Kind", "train")
		put("$O.collapse-blobs.M."+base64.URLEncoding.EncodeToString([]byte(hash+"/x")), "garbage")
		for _, data := range []string{"", "?", "R", "B", "B{", "B" + deep, `B{"from":-9000000000000000000}`, `B{"from":9000000000000000000}`, "R\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
			result(hash, "data", generation, "1", data)
			result(other, "data", generation, "1", data)
		}
		result(hash, "data", generation, "1", rows(-5, value))
		result(hash, "data", generation, "1", rows(math.MaxInt64, value))
		for _, far := range []string{"9223372036854775807", "18446744073709551615"} { // of a future that has not been
			result(hash, "data", far, "1", string(wire.Begin{}.Encode()))
			result(hash, "data", far, "1", rows(1, value))
			result(hash, "failed", far, "1", "")
			result(hash, "gave up", far, "1", "")
			result(hash, "done", far, "1", "{}")
		}
		for _, kind := range []string{"", "\x00", strings.Repeat("x", 9000)} {
			result(hash, kind, generation, "1", "x")
		}
		result(hash, "done", generation, "-1", "{}")
		result(other, "done", generation, "1", deep)
		result(other, "failed", generation, "1", "")
		put("$KV.collapse-claims.claim."+other, "garbage")
	}
	must(t, conn.Flush())
}

// TestGarbageDoesNotStopAStudy litters the queue of a study before it starts, while it runs, and again after it was interrupted:
// with a worker's token on the study's own server, and with all permissions on a shared one.
func TestGarbageDoesNotStopAStudy(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		t.Run(map[bool]string{false: "own server", true: "shared server"}[shared], func(t *testing.T) {
			t.Parallel()
			configs := smallGrid()
			lab := saved(t, configs)
			direct := openLab(t)
			_, err := demo.Run(t.Context(), direct, configs, 2, 2, studytest.Quiet{})
			must(t, err)
			var hashes []string
			for _, it := range itemsOf(t, configs[:longtest.Of(4, 8)]) {
				hashes = append(hashes, it.Hash)
			}
			var cluster *queue.Remote
			if shared {
				cluster = &queue.Remote{URL: openServer(t)}
			}
			for part := range 3 {
				ctx, cancel := context.WithCancel(t.Context())
				o := remoteOptions(t)
				if o.Remote = cluster; shared {
					o.Listen, o.Token = "", ""
				}
				told := &studytest.Log{}
				o.Logf = told.Add
				littered := make(chan struct{}) // results of the part before may be there at once: nothing ends until this part has its garbage
				o.Watch = func(e Event) {
					if e.Ended != nil {
						<-littered
					}
					if e.Ended != nil && part < 2 {
						cancel()
					}
				}
				url := urlOf(&o)
				ended := make(chan error, 1)
				go func() {
					s, err := Execute(ctx, lab, []string{"s"}, o)
					if err == nil && s != (Summary{Runs: 8, Done: 8}) {
						err = fmt.Errorf("%+v", s)
					}
					ended <- err
				}()
				at := ""
				if shared {
					at = cluster.URL
				} else {
					at = <-url
				}
				conn, err := nats.Connect(at, nats.Token("secret"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
				must(t, err)
				litter(t, conn, hashes, "1")
				stop := startWorker(t, at, worker.Options{Slots: 2})
				litter(t, conn, hashes, "1")
				close(littered)
				select {
				case err = <-ended:
				case <-time.After(3 * time.Minute):
					t.Fatalf("part %d does not end; told:\n%s", part, told.Text())
				}
				if part < 2 && !errors.Is(err, context.Canceled) || part == 2 && err != nil {
					t.Fatalf("part %d: %v; told:\n%s", part, err, told.Text())
				}
				if shared {
					litter(t, conn, hashes, "1") // for the next to begin with
				}
				stop()
				conn.Close()
				cancel()
				if text := told.Text(); part == 2 && !strings.Contains(text, "set aside") || strings.Contains(text, "\x1b") || len(text) > 100_000 {
					t.Errorf("part %d told:\n%.3000q", part, text)
				}
			}
			sameRuns(t, lab, direct, 8)
			h, err := ReadHealth(lab.Dir())
			if err != nil || h.Unusable.Count < 100 || len(h.Unusable.Last) == 0 {
				t.Errorf("%+v, %v", h, err)
			}
		})
	}
}
