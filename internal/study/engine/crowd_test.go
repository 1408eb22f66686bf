package engine

import (
	"context"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse/internal/demo"
	"collapse/internal/faulttest"
	"collapse/internal/longtest"
	"collapse/internal/store"
)

// roleCrowded executes study s of the lab args[0] with two slots, open to other machines, in a process that may have few files open.
func roleCrowded(args []string) error {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 200, Max: 200}); err != nil {
		return err
	}
	lab, err := store.Open(args[0], store.Options{})
	if err != nil {
		return err
	}
	o := Options{Slots: 2, Threads: 2, Queue: quickQueue(), Listen: "127.0.0.1:0", Token: "secret",
		Logf: func(format string, a ...any) { fmt.Printf(format+"\n", a...) }}
	s, err := Execute(context.Background(), lab, []string{"s"}, o)
	fmt.Println("done", s.Done)
	return err
}

// TestStrangersDoNotEndAStudy holds and renews more connections without a token than the coordinator may have files open.
func TestStrangersDoNotEndAStudy(t *testing.T) {
	t.Parallel()
	configs := demo.Grid{Base: longer(), Losses: []string{"ce"}, Noise: []float64{0, 0.2}, Seeds: longtest.Of(1, 4)}.Configs()
	lab := saved(t, configs)
	_, out := faulttest.Play(t, "crowded", lab.Dir())
	_, rest, _ := strings.Cut(faulttest.Heard(t, out, Announcement), "nats://")
	address, _, _ := strings.Cut(rest, " ")
	ctx, stop := context.WithCancel(t.Context())
	crowded := make(chan int, 1)
	go func() { crowded <- crowd(ctx, address) }()
	said := faulttest.Heard(t, out, "done")
	stop()
	if opened := <-crowded; opened < 300 {
		t.Errorf("only %d connections were opened during the study: it proves nothing", opened)
	}
	if want := fmt.Sprint("done ", len(configs)); said != want {
		t.Fatalf("%q, want %q", said, want)
	}
	sameValues(t, lab, directly(t, configs), configs)
}

// crowd keeps 300 connections open until ctx ends, opens others for those that the server ends, and returns how many it opened in all.
func crowd(ctx context.Context, address string) (opened int) {
	var open []net.Conn
	for ctx.Err() == nil {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			continue
		}
		opened++
		if open = append(open, c); len(open) > 300 {
			open[0].Close()
			open = open[1:]
			time.Sleep(3 * time.Millisecond) // the study needs the processors, too
		}
	}
	for _, c := range open {
		c.Close()
	}
	return opened
}
