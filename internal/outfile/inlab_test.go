package outfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFoldersOfALabAreNoPlaceForOutputs, reached by whatever name; beside them, and in a folder called runs that no lab has, a user may write.
func TestFoldersOfALabAreNoPlaceForOutputs(t *testing.T) {
	dir := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, folder := range []string{at("lab", "runs", "r"), at("other", "runs")} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(at("lab", "lab.sqlite"), nil, 0o666), os.Symlink(at("lab", "runs"), at("short"))); err != nil {
		t.Skipf("this file system has no symbolic links: %v", err)
	}
	for path, refused := range map[string]bool{
		at("lab", "runs"): true, at("lab", "runs", "x"): true, at("lab", "runs", "r", "page", "deep"): true, at("lab", "queue", "x"): true, at("short", "x"): true,
		at("lab", "page"): false, at("lab"): false, at("other", "runs", "x"): false, at("runs"): false,
	} {
		_, folder := New(context.Background(), io.Discard).Folder("--out", path, "page", "index.html")
		file := folder
		if _, err := os.Stat(path); err == nil {
			_, file = New(context.Background(), io.Discard).File("--csv", filepath.Join(path, "t.csv"))
		}
		for what, err := range map[string]error{"folder": folder, "file": file} {
			if says := err != nil && strings.Contains(err.Error(), "is in the lab "+at("lab")); says != refused {
				t.Errorf("%s %s: %v, want it refused: %v", what, path, err, refused)
			}
		}
	}
}
