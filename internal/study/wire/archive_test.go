package wire

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/study/studytest"
)

// archive is a tar archive of headers; each regular file holds its own name.
func archive(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		h.Mode = 0o644
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		must(t, w.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			_, err := io.WriteString(w, h.Name)
			must(t, err)
		}
	}
	must(t, w.Close())
	return b.Bytes()
}

func regular(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }

// refused reports an error that is missing or does not name its cause.
func refused(t *testing.T, what string, err error, cause string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), cause) {
		t.Errorf("%s: %v, want an error that says %q", what, err, cause)
	}
}

// TestArchivesStayInTheirFolder: an archive from another machine makes plain files inside the folder of the run and nothing else, whatever
// its entries are called and whatever they are.
func TestArchivesStayInTheirFolder(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("before"), 0o666))
	const plain = "is not a plain file inside the run's folder"
	for name, of := range map[string]struct {
		h     tar.Header
		cause string
	}{
		"above":     {regular("../../evil"), plain},
		"through":   {regular("a/../../evil"), plain},
		"absolute":  {regular(outside), plain},
		"no name":   {regular(""), plain},
		"symlink":   {tar.Header{Name: "link", Linkname: outside, Typeflag: tar.TypeSymlink}, plain},
		"hard link": {tar.Header{Name: "link", Linkname: outside, Typeflag: tar.TypeLink}, plain},
		"pipe":      {tar.Header{Name: "pipe", Typeflag: tar.TypeFifo}, plain},
		"device":    {tar.Header{Name: "device", Typeflag: tar.TypeChar}, plain},
		"folder":    {tar.Header{Name: "folder/", Typeflag: tar.TypeDir}, plain},
		"itself":    {regular("."), "is a directory"},
		"in a file": {regular("first/second"), "not a directory"},
	} {
		top := t.TempDir()
		dir := filepath.Join(top, "a", "b")
		refused(t, name, unpack(bytes.NewReader(archive(t, regular("first"), of.h)), dir), of.cause)
		if got := slices.Collect(maps.Keys(studytest.Contents(t, top))); !slices.Equal(got, []string{"a/b/first"}) {
			t.Errorf("%s: there are %v", name, got)
		}
	}
	if b, err := os.ReadFile(outside); string(b) != "before" {
		t.Errorf("a file elsewhere is %q, %v", b, err)
	}
}

// TestArchivesCutShortAreErrors cuts an archive within its headers and files. One that ends between two files is in order for tar: the
// digest of a blob tells.
func TestArchivesCutShortAreErrors(t *testing.T) {
	whole := archive(t, regular("a"), regular("b/c"))
	dir := filepath.Join(t.TempDir(), "out")
	must(t, unpack(bytes.NewReader(whole), dir))
	if diff := studytest.Contents(t, dir); !maps.Equal(diff, map[string]string{"a": "a", "b/c": "b/c"}) {
		t.Errorf("%q", diff)
	}
	for _, n := range []int{1, 511, 512, 1025, 1535, 1536, 1538} { // in the headers, before the contents, in the second one
		refused(t, fmt.Sprint(n, " bytes of an archive"), unpack(bytes.NewReader(whole[:n]), dir), "unexpected EOF")
	}
	refused(t, "a file where the folder should be", unpack(bytes.NewReader(whole), filepath.Join(dir, "a", "below")), "not a directory")
	refused(t, "noise", unpack(strings.NewReader(strings.Repeat("noise", 1000)), dir), "invalid tar header")
}

// TestUnpackingReplacesWhatWasThere: a folder of an attempt before is created anew.
func TestUnpackingReplacesWhatWasThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	must(t, unpack(bytes.NewReader(archive(t, regular("old"))), dir))
	must(t, unpack(bytes.NewReader(archive(t, regular("new"))), dir))
	if got := studytest.Contents(t, dir); !maps.Equal(got, map[string]string{"new": "new"}) {
		t.Errorf("%q", got)
	}
}

// TestPackingTellsOfEveryFailure gives the archive less room than it needs, byte for byte, and takes files away: an error, never a short archive.
func TestPackingTellsOfEveryFailure(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a"), bytes.Repeat([]byte("a"), 700), 0o666))
	must(t, os.WriteFile(filepath.Join(dir, "b"), []byte("b"), 0o666))
	all := func(string) bool { return true }
	var whole bytes.Buffer
	must(t, Pack(&whole, dir, all))
	var list bytes.Buffer
	must(t, packList(&list, dir, []string{"a", "b"}))
	if !bytes.Equal(whole.Bytes(), list.Bytes()) {
		t.Error("a list of all files makes another archive than the folder")
	}
	for limit := range whole.Len() {
		if err := Pack(&bounded{limit: limit}, dir, all); !errors.Is(err, errBound) {
			t.Fatalf("a folder into %d bytes of %d: %v", limit, whole.Len(), err)
		}
		if err := packList(&bounded{limit: limit}, dir, []string{"a", "b"}); !errors.Is(err, errBound) {
			t.Fatalf("a list into %d bytes of %d: %v", limit, whole.Len(), err)
		}
	}
	must(t, Pack(&bounded{limit: whole.Len()}, dir, all))
	for name, err := range map[string]error{
		"a folder that is gone":   Pack(io.Discard, filepath.Join(dir, "none"), all),
		"a file that is gone":     packList(io.Discard, dir, []string{"a", "none"}),
		"one that vanishes":       Pack(io.Discard, dir, func(path string) bool { os.Remove(filepath.Join(dir, path)); return true }),
		"the first of two is not": packList(io.Discard, dir, []string{"none", "b"}),
	} {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMovingReplacesEntries: what comes replaces what has its name, other entries stay, and the folder that it came in is gone.
func TestMovingReplacesEntries(t *testing.T) {
	top := t.TempDir()
	from, to := filepath.Join(top, "from"), filepath.Join(top, "to")
	put := func(path, text string) {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(top, path)), 0o777))
		must(t, os.WriteFile(filepath.Join(top, path), []byte(text), 0o666))
	}
	fill := func() {
		put("from/folder/new", "new")
		put("from/file", "new")
		put("to/folder/old", "old")
		put("to/file/old", "a folder where a file comes")
		put("to/other", "stays")
	}
	fill()
	must(t, MoveInto(from, to))
	want := map[string]string{"to/folder/new": "new", "to/file": "new", "to/other": "stays"}
	if got := studytest.Contents(t, top); !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(from); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder that was moved from: %v", err)
	}
	must(t, os.RemoveAll(to))
	fill2 := func() { put("from/folder/new", "new"); put("to/folder/old", "old"); put("to/other", "stays") }
	fill2()
	must(t, mergeInto(from, to)) // which keeps what only the old folder has
	want = map[string]string{"to/folder/new": "new", "to/folder/old": "old", "to/other": "stays"}
	if got := studytest.Contents(t, top); !maps.Equal(got, want) {
		t.Errorf("merged: %q", got)
	}
	for name, move := range map[string]func(from, to string) error{"move": MoveInto, "merge": mergeInto} {
		if err := move(filepath.Join(top, "nowhere"), to); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s from nowhere: %v", name, err)
		}
		must(t, os.MkdirAll(from, 0o777))
		if err := move(from, filepath.Join(top, "none for "+name)); name == "move" && !errors.Is(err, os.ErrNotExist) { // nothing to move, and a folder to sync
			t.Errorf("%s into nowhere: %v", name, err)
		}
		put("from/x/y", "new")
		refused(t, name+" into a file", move(from, filepath.Join(to, "other")), "not a directory")
	}
}
