package queue

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate writes a self-signed certificate for this machine, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	must(t, err)
	bytes, err := x509.MarshalECPrivateKey(k)
	must(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes}), 0o600))
	return cert, key
}

func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	s := startServer(t, ServerOptions{Listen: "127.0.0.1:0", Token: testToken, CertFile: cert, KeyFile: key})
	inside, err := s.Connect(quick(t)) // in the process nothing needs to be encrypted
	must(t, err)
	defer inside.Close()
	c, err := inside.Coordinate(t.Context(), "lab")
	must(t, err)
	l := collectFrom(t, c)
	must(t, c.Submit(soon(t), jobs(3)...))
	if !strings.HasPrefix(s.URL(), "tls://") {
		t.Errorf("the address is %s", s.URL())
	}
	_, err = Connect(Remote{URL: s.URL(), Token: testToken}, Options{})
	if untrusted := (*tls.CertificateVerificationError)(nil); !errors.As(err, &untrusted) || !errors.As(untrusted.Err, new(x509.UnknownAuthorityError)) {
		t.Errorf("an untrusted certificate: %v", err)
	}
	b, err := Connect(Remote{URL: s.URL(), Token: testToken, CAFile: cert}, Options{Version: "1"})
	must(t, err)
	defer b.Close()
	if _, err := b.conn.TLSConnectionState(); err != nil {
		t.Errorf("the connection is not encrypted: %v", err)
	}
	defer work(t, b, WorkerOptions{}, echo)()
	l.wait(t, 3)
	if _, err := StartServer(ServerOptions{Dir: t.TempDir(), Listen: ":0", Token: testToken, CertFile: key, KeyFile: cert}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("certificate and key swapped: %v", err)
	}
}

func TestTokenFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "token")
	if _, err := TokenFile(path, false); err == nil {
		t.Error("a token that is not there")
	}
	made, err := TokenFile(path, true)
	must(t, err)
	again, err := TokenFile(path, true)
	if err != nil || again != made || len(made) != 64 {
		t.Errorf("%q, then %q, %v", made, again, err)
	}
	for _, bad := range []string{"", "short", "two words that are long enough"} {
		must(t, os.WriteFile(path, []byte(bad), 0o600))
		if _, err := TokenFile(path, true); err == nil || !strings.Contains(err.Error(), "no token") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestBlobs: folder and object store keep what they were given, and notice changes.
func TestBlobs(t *testing.T) {
	_, _, b := local(t, quick(t))
	objects, err := b.Objects(t.Context())
	must(t, err)
	dir := t.TempDir()
	text := strings.Repeat("weights ", 100_000)
	for name, store := range map[string]Blobs{"objects": objects, "folder": Folder(dir)} {
		blob, err := store.Put(t.Context(), "run1/g3/files.tar", strings.NewReader(text))
		if err != nil || blob.Bytes != int64(len(text)) {
			t.Fatalf("%s: %+v, %v", name, blob, err)
		}
		var got strings.Builder
		if err := store.Get(t.Context(), blob, &got); err != nil || got.String() != text {
			t.Errorf("%s: %d bytes, %v", name, got.Len(), err)
		}
		other := blob
		other.SHA256 = strings.Repeat("0", 64)
		if err := store.Get(t.Context(), other, &got); err == nil || !strings.Contains(err.Error(), "digest") {
			t.Errorf("%s: another digest: %v", name, err)
		}
		if _, err := store.Put(t.Context(), "run2/x", strings.NewReader("y")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		must(t, store.Remove(t.Context(), blob.Name, "run1/g3/absent"))
		if err := store.Get(t.Context(), blob, &got); err == nil {
			t.Errorf("%s: removed, and still there", name)
		}
		if err := store.Get(t.Context(), Blob{Name: "run2/x", SHA256: "a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa", Bytes: 1}, &got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Folder(dir).Put(t.Context(), "../out", strings.NewReader("x")); err == nil {
		t.Error("a name that leaves the folder")
	}
}

// TestFilesWithoutCertificates are refused at once, since a later attempt would not find any certificate either.
func TestFilesWithoutCertificates(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "garbage": "\x00\xff no certificate", "a key": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		path := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Connect(Remote{URL: "nats://127.0.0.1:1", CAFile: path}, Options{Version: "1"})
		var none *CertificateError
		if !errors.As(err, &none) || !strings.Contains(err.Error(), path+" holds no certificate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
