package coordinator

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// network is the connection from a worker to a server, which can be cut.
type network struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	open  *sync.Cond
	cut   bool // nothing gets through
	conns []net.Conn
}

// networkTo makes a network to the server at url and returns it with the url of its near end.
func networkTo(t *testing.T, url string) (*network, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	n := &network{listener: l, to: strings.TrimPrefix(url, "nats://")}
	n.open = sync.NewCond(&n.mu)
	go n.accept()
	t.Cleanup(func() { l.Close(); n.mend(); n.hangUp() })
	return n, "nats://" + l.Addr().String()
}

func (n *network) accept() {
	for {
		near, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.mu.Lock()
		cut := n.cut
		n.mu.Unlock()
		if cut {
			near.Close()
			continue
		}
		far, err := net.Dial("tcp", n.to)
		if err != nil {
			near.Close()
			continue
		}
		n.mu.Lock()
		n.conns = append(n.conns, near, far)
		n.mu.Unlock()
		go n.carry(far, near)
		go n.carry(near, far)
	}
}

// carry holds back what arrives while the network is cut, as TCP does.
func (n *network) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 64<<10)
	for {
		k, err := from.Read(b)
		n.mu.Lock()
		for n.cut {
			n.open.Wait()
		}
		n.mu.Unlock()
		if _, failed := to.Write(b[:k]); err != nil || failed != nil {
			return
		}
	}
}

// sever lets nothing through any more, without either side noticing.
func (n *network) sever() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = true
}

// hangUp closes every connection.
func (n *network) hangUp() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		c.Close()
	}
	n.conns = nil
}

// mend ends a cut.
func (n *network) mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = false
	n.open.Broadcast()
}

// TestACutNetwork cuts off a worker for longer than the time after which it counts as silent, in both possible ways: connections
// break, or nothing is heard from them any more. It continues to compute and hands everything over when the network is back.
func TestACutNetwork(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it takes half a minute")
	}
	for _, silent := range []bool{false, true} {
		t.Run(map[bool]string{false: "connections break", true: "connections fall silent"}[silent], func(t *testing.T) {
			t.Parallel()
			configs := []train.Config{longer(), tiny()}
			lab := saved(t, configs)
			o := remoteOptions(t)
			url := urlOf(&o)
			ended := make(chan error, 1)
			go func() {
				_, err := Execute(t.Context(), lab, []string{"s"}, o)
				ended <- err
			}()
			n, near := networkTo(t, <-url)
			gate := newGate(t)
			_, out := faulttest.Play(t, "worker", near, t.TempDir(), string(gate))
			faulttest.Heard(t, out, "epoch 20")
			waitForEpoch(t, lab, itemsOf(t, configs)[0].Hash, 1)
			n.sever()
			if !silent {
				n.hangUp()
			}
			gate.open(t)
			faulttest.Heard(t, out, "epoch 80") // nobody hears of it yet
			time.Sleep(2 * o.Queue.AckWait)
			if run, err := lab.Run(itemsOf(t, configs)[0].Hash); err != nil || run.Status != store.Running {
				t.Errorf("while the network is cut the run is %s, %v", run.Status, err)
			}
			n.mend()
			must(t, <-ended)
			sameValues(t, lab, directly(t, configs[:1]), configs[:1])
			for _, it := range itemsOf(t, configs) {
				if attempts, err := lab.Attempts(it.Hash); err != nil || len(attempts) != 1 {
					t.Errorf("%s: %d attempts, %v", it.Note, len(attempts), err)
				}
			}
		})
	}
}

// TestACutOffWorkersRunGoesOnElsewhere gives the run of a worker without network to another one. What the first one has when the
// network is back is dropped.
func TestACutOffWorkersRunGoesOnElsewhere(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it takes half a minute")
	}
	configs := []train.Config{longer()}
	lab := saved(t, configs)
	o := remoteOptions(t)
	at, ended := executing(t, lab, &o)
	n, near := networkTo(t, at)
	gate := newGate(t)
	_, first := faulttest.Play(t, "worker", near, t.TempDir(), string(gate))
	faulttest.Heard(t, first, "epoch 20")
	waitForEpoch(t, lab, itemsOf(t, configs)[0].Hash, 1)
	n.sever()
	n.hangUp()
	gate.open(t)
	_, second := faulttest.Play(t, "worker", at, t.TempDir())
	faulttest.Heard(t, second, "epoch")
	faulttest.Heard(t, first, "epoch 80") // it has a result, too
	n.mend()
	must(t, <-ended)
	sameValues(t, lab, directly(t, configs), configs)
	if attempts, err := lab.Attempts(itemsOf(t, configs)[0].Hash); err != nil || len(attempts) != 2 {
		t.Errorf("%d attempts, %v", len(attempts), err)
	}
}
