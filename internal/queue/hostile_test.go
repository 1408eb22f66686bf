package queue

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/jail"
)

// TestALabsTokenIsTheUsersOwn: a token that came with a lab is replaced, and one that was made for it stays.
func TestALabsTokenIsTheUsersOwn(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	lab := filepath.Join(t.TempDir(), "lab")
	must(t, os.Mkdir(lab, 0o777))
	planted := strings.Repeat("known to a stranger ", 2)
	must(t, os.WriteFile(filepath.Join(lab, "queue.token"), []byte(planted), 0o600))
	first, path, replaced, err := LabToken(lab)
	must(t, err)
	if !replaced || first == strings.TrimSpace(planted) || path != filepath.Join(lab, "queue.token") {
		t.Errorf("token %q, replaced: %v", first, replaced)
	}
	if read, err := TokenFile(path, false); err != nil || read != first {
		t.Errorf("the file holds %q, %v; want %q", read, err, first)
	}
	again, _, replaced, err := LabToken(lab)
	if err != nil || replaced || again != first {
		t.Errorf("the next time %q, replaced: %v, %v", again, replaced, err)
	}
	elsewhere := lab + "2"
	must(t, os.CopyFS(elsewhere, os.DirFS(lab)))
	if other, _, replaced, err := LabToken(elsewhere); err != nil || !replaced || other == first {
		t.Errorf("in a copy of the lab: %q, replaced: %v, %v", other, replaced, err)
	}
	file := filepath.Join(config, "file")
	must(t, errors.Join(os.WriteFile(file, []byte(planted), 0o600), os.Remove(path)))
	if err := os.Symlink(file, path); err != nil {
		t.Skip(err)
	}
	if token, _, _, err := LabToken(lab); !errors.As(err, new(*jail.LinkError)) {
		t.Errorf("a link: %q, %v", token, err)
	}
}

// TestTheLockIsNoLink: what a link leads to stays as it is.
func TestTheLockIsNoLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "thesis.tex"), filepath.Join(dir, "queue.lock")
	must(t, os.WriteFile(file, []byte("precious"), 0o666))
	if err := os.Symlink("thesis.tex", link); err != nil {
		t.Skip(err)
	}
	if _, err := TakeLock(link); !errors.As(err, new(*jail.LinkError)) {
		t.Error(err)
	}
	if text, err := os.ReadFile(file); string(text) != "precious" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestBlobsStayInTheirFolder: others may write to the shared folder, so links there lead no blob in or out.
func TestBlobsStayInTheirFolder(t *testing.T) {
	dir := t.TempDir()
	shared, outside := filepath.Join(dir, "shared"), filepath.Join(dir, "outside")
	must(t, errors.Join(os.Mkdir(shared, 0o777), os.Mkdir(outside, 0o777), os.WriteFile(filepath.Join(outside, "file"), []byte("precious"), 0o666)))
	if err := errors.Join(os.Symlink("../outside", filepath.Join(shared, "run")), os.Symlink("../outside/file", filepath.Join(shared, "blob"))); err != nil {
		t.Skip(err)
	}
	blobs := Folder(shared)
	if b, err := blobs.Put(t.Context(), "run/g1/ckpt", strings.NewReader("x")); err == nil {
		t.Errorf("put %v through a link", b)
	}
	for _, name := range []string{"run/file", "blob"} {
		var got bytes.Buffer
		if err := blobs.Get(t.Context(), sumOf(t, name, "precious"), &got); err == nil || got.Len() > 0 {
			t.Errorf("got %q through a link: %v", &got, err)
		}
	}
	if err := blobs.Remove(t.Context(), "run/file"); err == nil {
		t.Error("removed through a link")
	}
	must(t, blobs.Remove(t.Context(), "run", "blob"))
	must(t, blobs.Clear(t.Context()))
	if list, err := os.ReadDir(outside); err != nil || len(list) != 1 {
		t.Errorf("outside: %v, %v", list, err)
	}
	if text, err := os.ReadFile(filepath.Join(outside, "file")); string(text) != "precious" {
		t.Errorf("%q, %v", text, err)
	}
}

// sumOf is the blob that has a text.
func sumOf(t *testing.T, name, text string) Blob {
	t.Helper()
	dir := t.TempDir()
	b, err := Folder(dir).Put(t.Context(), "x", strings.NewReader(text))
	must(t, err)
	b.Name = name
	return b
}
