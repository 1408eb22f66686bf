package cli

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAWorkerDoesNotWaitForACertificateToBecomeTrusted: it ends, and says what it needs.
func TestAWorkerDoesNotWaitForACertificateToBecomeTrusted(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // what a server of NATS says until the handshake has failed
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(c, "INFO {\"server_id\":\"x\",\"version\":\"2.10.0\",\"proto\":1,\"tls_required\":true,\"max_payload\":1000}\r\n")
			tls.Server(c, &tls.Config{Certificates: web.TLS.Certificates}).Handshake()
			c.Close()
		}
	}()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(strings.Repeat("a", 43)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs := called(t, 1, "worker", "--connect", "tls://"+l.Addr().String(), "--token-file", token, "--scratch", t.TempDir())
	if !strings.Contains(errs, "unknown authority") || !strings.Contains(errs, "--ca FILE names what signed it") || strings.Contains(errs, "trying again") {
		t.Error(errs)
	}
}

// TestAWorkerEndsWhenThereIsNothingToDo: it computes the study's runs, and ends by itself, though the coordinator has gone.
func TestAWorkerEndsWhenThereIsNothingToDo(t *testing.T) {
	file, lab := studyFile(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(strings.Repeat("a", 43)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() {
		var out, errs strings.Builder
		code := run(t.Context(), []string{"worker", "--connect", "nats://" + address, "--token-file", token, "--scratch", t.TempDir(), "--slots", "1", "--leave-after", "3s"}, &out, &errs)
		ended <- fmt.Sprintf("%d %s", code, errs.String())
	}()
	called(t, 0, "--lab", lab, "study", "run", file, "--listen", address, "--workers", "0", "--token-file", token)
	if said := <-ended; !strings.HasPrefix(said, "0 ") || !strings.Contains(said, "no run for 3s: the worker ends\n") || strings.Count(said, ": done: ") != 4 {
		t.Error(said)
	}
	if _, errs := called(t, 1, "worker", "--connect", "nats://"+address, "--token-file", token, "--scratch", t.TempDir(), "--leave-after", "100ms"); !strings.Contains(errs, "no server at") {
		t.Error(errs)
	}
}
