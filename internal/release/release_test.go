package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/internal/wheel"
)

var stub = []byte("a program")

// made is a release of the repository into a folder of its own, without the programs.
func made(t *testing.T, certificates string) *release {
	t.Helper()
	return &release{root: "../..", out: t.TempDir(), log: io.Discard, certificates: certificates}
}

func (r *release) read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.out, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// untarred lists the entries of a tar archive as "mode owner name size", and fails if one has a time or an owner's name of its own.
func untarred(t *testing.T, r io.Reader) (lines []string, contents map[string][]byte) {
	t.Helper()
	contents = map[string][]byte{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return lines, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)) || h.Uname != "" || h.Gname != "" || h.Uid != h.Gid {
			t.Errorf("%s is of %v, %q:%q, %d:%d", h.Name, h.ModTime, h.Uname, h.Gname, h.Uid, h.Gid)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		contents[h.Name] = data
		lines = append(lines, fmt.Sprintf("%o %d %s", h.Mode, h.Uid, h.Name))
	}
}

func TestArchives(t *testing.T) {
	r := made(t, "")
	folder := "collapse-" + version.Version + "-linux-arm64"
	if err := r.archive(platform{"linux", "arm64"}, stub); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(r.read(t, folder+".tar.gz")))
	if err != nil || z.Name != "" || !z.ModTime.IsZero() {
		t.Fatalf("gzip header %+v (%v)", z.Header, err)
	}
	lines, contents := untarred(t, z)
	want := []string{"755 0 " + folder + "/collapse", "644 0 " + folder + "/LICENSE", "644 0 " + folder + "/README.md", "644 0 " + folder + "/CHANGELOG.md"}
	if !slices.Equal(lines, want) || !bytes.Equal(contents[folder+"/collapse"], stub) {
		t.Errorf("the archive holds %q", lines)
	}

	folder = "collapse-" + version.Version + "-windows-amd64"
	if err := r.archive(platform{"windows", "amd64"}, stub); err != nil {
		t.Fatal(err)
	}
	data := r.read(t, folder+".zip")
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(archive.File) != 4 || archive.File[0].Name != folder+"/collapse.exe" {
		t.Fatalf("the archive holds %v (%v)", archive.File, err)
	}
	if got, want := r.sums[1], fmt.Sprintf("%x  %s.zip\n", sha256.Sum256(data), folder); got != want {
		t.Errorf("checksum %q, want %q", got, want)
	}
}

// TestImageHoldsWhatAContainerNeeds looks at modes and owners: the container's user can write to /tmp and /work alone.
func TestImageHoldsWhatAContainerNeeds(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, []byte(certificate), 0o600); err != nil {
		t.Fatal(err)
	}
	r := made(t, bundle)
	if err := r.image(platform{"linux", "amd64"}, stub); err != nil {
		t.Fatal(err)
	}
	lines, contents := untarred(t, bytes.NewReader(r.read(t, "image/amd64.tar")))
	want := []string{"755 0 collapse", "755 0 etc/", "644 0 etc/passwd", "644 0 etc/group", "755 0 etc/ssl/", "755 0 etc/ssl/certs/",
		"644 0 etc/ssl/certs/ca-certificates.crt", "1777 0 tmp/", "755 65532 work/"}
	if !slices.Equal(lines, want) {
		t.Errorf("the image holds %q, want %q", lines, want)
	}
	if !bytes.Equal(contents["collapse"], stub) || string(contents["etc/ssl/certs/ca-certificates.crt"]) != certificate {
		t.Errorf("the program or the certificates are others")
	}
}

func TestCertificatesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none.pem")
	if err := os.WriteFile(none, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{none: "holds no certificate", filepath.Join(dir, "missing"): "-certificates", dir: "directory"} {
		if _, err := readCertificates(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestNotesAreTheVersionsSection(t *testing.T) {
	const log = "# Changelog\n\n## 0.2.0 (2026-02-03)\n\nNew:\n\n### Part\n\n- a\n\n## 0.1.10\n\n- ten\n\n## 0.1.1\n\n- b\n\n## 0.1.0\n\n"
	for version, want := range map[string]string{"0.2.0": "# collapse 0.2.0\n\nNew:\n\n### Part\n\n- a\n", "0.1.1": "# collapse 0.1.1\n\n- b\n", "0.1.10": "# collapse 0.1.10\n\n- ten\n", "0.1.0": "", "0.1": ""} {
		got, err := changes(log, version)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q (%v), want %q", version, got, err, want)
		}
	}
}

// TestThisVersionHasNotes: what the program calls itself is a heading of the changelog.
func TestThisVersionHasNotes(t *testing.T) {
	r := made(t, "")
	if err := r.notes(); err != nil {
		t.Fatal(err)
	}
}

func TestPlatforms(t *testing.T) {
	all, err := parsePlatforms(strings.Join(platformNames(), ","))
	if err != nil || len(all) != 5 {
		t.Errorf("all platforms are %v (%v)", all, err)
	}
	if two, err := parsePlatforms("windows/amd64,linux/arm64,windows/amd64"); err != nil || !slices.Equal(two, []platform{{"windows", "amd64"}, {"linux", "arm64"}}) {
		t.Errorf("two platforms are %v (%v)", two, err)
	}
	for _, wrong := range []string{"", "linux", "plan9/amd64", "linux/amd64,"} {
		if got, err := parsePlatforms(wrong); err == nil {
			t.Errorf("%q is %v", wrong, got)
		}
	}
}

func TestCallsThatAreRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"plan9":               {"-platforms", "plan9/amd64"},
		"-make \"sdist\"":     {"-make", "wheels,sdist"},
		"unexpected argument": {"-make", "notes", "everything"},
		"-certificates has":   {"-certificates", "ca.pem", "-make", "wheels"},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

// TestChecksums makes the notes alone, which needs no program, and reads the checksums.
func TestChecksums(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a b", "dist")
	if err := run(t.Context(), []string{"-make", "notes", "-out", out}, io.Discard); err != nil {
		t.Fatal(err)
	}
	name := "collapse-" + version.Version + "-notes.md"
	notes, err := os.ReadFile(filepath.Join(out, name))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	if want := fmt.Sprintf("%x  %s\n", sha256.Sum256(notes), name); err != nil || string(sums) != want {
		t.Errorf("checksums %q (%v), want %q", sums, err, want)
	}
}

// TestBuildIsStaticWhateverTheEnvironmentSays compiles a small program of another module.
func TestBuildIsStaticWhateverTheEnvironmentSays(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "cmd/collapse"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module collapse\n", "cmd/collapse/main.go": "package main\n\nimport _ \"net\"\n\nfunc main() {}\n",
		"cmd/collapse/tagged.go": "//go:build tagged\n\npackage main\n\nfunc init() { println(\"tagged file\") }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"CGO_ENABLED": "1", "GOAMD64": "v3", "GOFLAGS": "-buildvcs=true -tags=tagged"} {
		t.Setenv(name, value)
	}
	program, err := build(t.Context(), dir, "digest", platform{"linux", "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	tags, err := wheel.Tags(program)
	if err != nil || tags[0] != "manylinux_2_17_x86_64" {
		t.Errorf("tags %v (%v)", tags, err)
	}
	for _, found := range []string{"GOAMD64=v3", "CGO_ENABLED=1", "tagged file", dir} {
		if bytes.Contains(program, []byte(found)) {
			t.Errorf("the program holds %q", found)
		}
	}
}

// TestTagsOfEveryPlatform compiles a program of one line for each platform, as the release does, and reads its tags.
func TestTagsOfEveryPlatform(t *testing.T) {
	longtest.Only(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "cmd/collapse"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module collapse\n", "cmd/collapse/main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"linux/amd64": "manylinux_2_17_x86_64 musllinux_1_1_x86_64", "linux/arm64": "manylinux_2_17_aarch64 musllinux_1_1_aarch64",
		"darwin/amd64": "macosx_12_0_x86_64", "darwin/arm64": "macosx_12_0_arm64", "windows/amd64": "win_amd64"}
	for _, p := range platforms {
		program, err := build(t.Context(), dir, "digest", p)
		if err != nil {
			t.Fatal(err)
		}
		if tags, err := wheel.Tags(program); err != nil || strings.Join(tags, " ") != want[p.String()] {
			t.Errorf("%s: tags %v (%v), want %s", p, tags, err, want[p.String()])
		}
	}
}
