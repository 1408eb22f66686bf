package coordinator

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
)

// roleCrowded executes study s of the lab args[0] with two slots, open to other machines, in a process that may have args[2] files open. It
// reaches the gate args[1] when a run has ended.
func roleCrowded(args []string) error {
	files, err := strconv.ParseUint(args[2], 10, 64)
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: files, Max: files})
	}
	if err != nil {
		return err
	}
	lab, err := store.Open(args[0], store.Options{})
	if err != nil {
		return err
	}
	o := Options{Slots: 2, Threads: 2, Queue: quickQueue(), Listen: "127.0.0.1:0", Token: "secret",
		Logf: func(format string, a ...any) { fmt.Printf(format+"\n", a...) }, Watch: func(e Event) {
			if e.Ended != nil {
				gate(args[1]).pass()
			}
		}}
	s, err := Execute(context.Background(), lab, []string{"s"}, o)
	if err == nil {
		fmt.Println("done", s.Done)
	}
	return err
}

// TestStrangersDoNotEndAStudy holds and renews more connections without a token than the coordinator may have files open.
func TestStrangersDoNotEndAStudy(t *testing.T) {
	t.Parallel()
	files, strangers := longtest.Of(200, 1024), longtest.Of(300, 2000)
	configs := demo.Grid{Base: longer(), Losses: []string{"ce"}, Noise: []float64{0, 0.2}, Seeds: longtest.Of(1, 4)}.Configs()
	lab := saved(t, configs)
	hold := newGate(t)
	_, out := faulttest.Play(t, "crowded", lab.Dir(), string(hold), fmt.Sprint(files))
	_, rest, _ := strings.Cut(faulttest.Heard(t, out, Announcement), "nats://")
	address, _, _ := strings.Cut(rest, " ")
	ctx, stop := context.WithCancel(t.Context())
	full, left := make(chan struct{}), make(chan struct{})
	go func() { defer close(left); crowd(ctx, address, strangers, full) }()
	for there := false; !there; {
		select {
		case <-full:
			there = true
		case line, goes := <-out:
			if !goes || strings.HasPrefix(line, "error:") || strings.HasPrefix(line, "done") {
				t.Fatalf("the study ended before the crowd was there: %q", line)
			}
			t.Log(line)
		}
	}
	hold.open(t)
	said := faulttest.Heard(t, out, "done")
	stop()
	<-left
	if want := fmt.Sprint("done ", len(configs)); said != want {
		t.Fatalf("%q, want %q", said, want)
	}
	sameValues(t, lab, directly(t, configs), configs)
	t.Logf("counted: %d strangers at a time", strangers)
}

// crowd keeps so many connections open until ctx ends, and opens others for those that the server ends. It closes full when it has them.
func crowd(ctx context.Context, address string, strangers int, full chan<- struct{}) {
	var open []net.Conn
	said := false
	for ctx.Err() == nil {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			continue
		}
		if open = append(open, c); len(open) > strangers {
			if !said {
				close(full)
				said = true
			}
			open[0].Close()
			open = open[1:]
			time.Sleep(3 * time.Millisecond) // the study needs the processors, too
		}
	}
	for _, c := range open {
		c.Close()
	}
}
