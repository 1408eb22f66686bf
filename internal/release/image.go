package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/wheel"
)

// user is who runs the program in an image: a number that no system gives to a person.
const user = 65532

// image makes image/ARCH.tar, all files of a container: the program, CA certificates, a folder for temporary files, and one to work in
// that belongs to the user.
func (r *release) image(p platform, program []byte) error {
	certificates, err := readCertificates(r.certificates)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, e := range []struct {
		name  string
		mode  int64
		owner int
		data  []byte
	}{
		{"collapse", 0o755, 0, program},
		{"etc/", 0o755, 0, nil},
		{"etc/passwd", 0o644, 0, fmt.Appendf(nil, "root:x:0:0:root:/:\ncollapse:x:%d:%d:collapse:/work:\n", user, user)},
		{"etc/group", 0o644, 0, fmt.Appendf(nil, "root:x:0:\ncollapse:x:%d:\n", user)},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, certificates},
		{"tmp/", 0o1777, 0, nil},
		{"work/", 0o755, user, nil},
	} {
		header := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.data)), ModTime: wheel.Time, Format: tar.FormatUSTAR}
		if strings.HasSuffix(e.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return r.write("image/"+p.arch+".tar", b.Bytes())
}

// bundles are where systems keep their CA certificates: Debian and Alpine, Fedora, openSUSE, macOS.
var bundles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}

// readCertificates reads the file of that name, or the first of bundles that is there.
func readCertificates(name string) ([]byte, error) {
	names := bundles
	if name != "" {
		names = []string{name}
	}
	for _, name := range names {
		text, err := inputfile.Read(name, inputfile.Bundle)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !x509.NewCertPool().AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s holds no certificate; want a bundle of CA certificates in PEM", name)
		}
		return text, nil
	}
	return nil, fmt.Errorf("no CA certificates at %s; install ca-certificates, or name a bundle with -certificates", strings.Join(names, ", "))
}
