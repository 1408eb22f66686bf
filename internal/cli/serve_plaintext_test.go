package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func TestAddressesThatOtherMachinesReach(t *testing.T) {
	want := map[string]bool{
		"127.0.0.1:0": false, "127.8.9.1:0": false, "[::1]:0": false, "localhost:0": false, "[::ffff:127.0.0.1]:0": false,
		"0.0.0.0:0": true, "[::]:0": true, "[::ffff:0.0.0.0]:0": true, "192.0.2.1:0": true, "[2001:db8::1]:0": true, "[::ffff:192.0.2.1]:0": true,
		"[fe80::1%lo]:0": true, "169.254.1.1:0": true, "10.0.0.1:0": true,
	}
	if host, err := os.Hostname(); err == nil {
		if ips, err := net.LookupIP(host); err == nil {
			loopback := true
			for _, ip := range ips {
				loopback = loopback && ip.IsLoopback()
			}
			want[host+":0"] = !loopback
		}
	}
	for listen, reached := range want {
		if got := reaches(listen, "127.0.0.1"); got != reached {
			t.Errorf("%s: reached %v, want %v", listen, got, reached)
		}
	}
	if reaches(":4333", "127.0.0.1") || !reaches(":4333", "0.0.0.0") {
		t.Error("an address without a host is not what the listener makes of it")
	}
}

// TestPlainTextIsWarnedOf starts servers at addresses of every kind: those that other machines reach say that there is no TLS.
func TestPlainTextIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		listen string
		args   []string
		warned bool
	}{
		{"127.0.0.1:0", nil, false},
		{"localhost:0", nil, false},
		{"127.0.0.1:0", []string{"--token", "a token of one's own"}, false},
		{"0.0.0.0:0", nil, true},
		{":0", nil, true},
		{"0.0.0.0:0", []string{"--token", "a token of one's own"}, true},
	} {
		ctx, stop := context.WithCancel(t.Context())
		r, w := io.Pipe()
		var errs bytes.Buffer
		ended := make(chan int, 1)
		go func() {
			ended <- run(ctx, append([]string{"--json", "serve", "--lab", t.TempDir(), "--listen", c.listen}, c.args...), w, &errs)
			w.Close()
		}()
		var s serving
		if err := json.NewDecoder(r).Decode(&s); err != nil {
			t.Fatal(err)
		}
		stop()
		go io.Copy(io.Discard, r)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("an interrupted server does not end")
		}
		if warned := strings.Contains(errs.String(), "plain text"); warned != c.warned || s.Reachable != c.warned {
			t.Errorf("%s %v: warned %v, reachable %v, want %v: %s", c.listen, c.args, warned, s.Reachable, c.warned, errs.String())
		}
	}
}

// TestTheQueueWarnsOfPlainText looks at what study commands say of addresses where workers join.
func TestTheQueueWarnsOfPlainText(t *testing.T) {
	for _, c := range []struct {
		where  whereFlags
		warned bool
	}{
		{whereFlags{Listen: ":4333"}, false},
		{whereFlags{Listen: "127.0.0.1:4333"}, false},
		{whereFlags{Workers: new(1)}, false},
		{whereFlags{Listen: "0.0.0.0:4333"}, true},
		{whereFlags{Listen: "0.0.0.0:4333", Cert: "cert.pem", Key: "key.pem"}, false},
	} {
		var errs bytes.Buffer
		a := &app{ctx: t.Context(), stderr: &errs, flags: &program{}}
		a.flags.Lab, c.where.Silence = t.TempDir(), shortestSilence
		if _, err := c.where.options(a); err != nil {
			t.Fatal(err)
		}
		if warned := strings.Contains(errs.String(), "plain text"); warned != c.warned {
			t.Errorf("%+v: warned %v: %s", c.where, warned, errs.String())
		}
	}
}

// TestAWorkerSaysWhereItsTokenGoesInPlainText names the hosts among its servers that are elsewhere and are not asked for TLS.
func TestAWorkerSaysWhereItsTokenGoesInPlainText(t *testing.T) {
	for connect, want := range map[string]string{
		"nats://127.0.0.1:4222": "", "localhost:4222": "", "tls://192.0.2.1:4222": "", "nats://192.0.2.1:4222": "192.0.2.1:4222",
		"192.0.2.1": "192.0.2.1", "tls://192.0.2.1, nats://[2001:db8::1]:4222,nats://[::1]": "[2001:db8::1]:4222",
	} {
		if got := strings.Join(plainHosts(connect), " "); got != want {
			t.Errorf("%s: %q, want %q", connect, got, want)
		}
	}
}
