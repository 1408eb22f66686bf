package outfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ListName is the file in which a folder says what the program wrote there: after a line with the folder's kind a line "digest  name" for
// each file, as sha256sum -c reads it. While files are being replaced, a name has two lines, so that a process may be killed at any time.
const ListName = ".collapse-files"

const header = "# what collapse wrote here: "

var errNoList = &ListError{"is not a list that this program writes: choose another folder, or remove that file"}

// ListError says that a folder cannot be written for what its list says.
type ListError struct{ words string }

func (e *ListError) Error() string { return ListName + " " + e.words }

const (
	mostList = 16 << 20 // bytes of a list
	mostOurs = 1 << 30  // bytes of a file that can be the program's own
)

type digest [sha256.Size]byte

// list is what the program wrote to a folder, by names with slashes.
type list map[string][]digest

func (l list) has(name string, sum digest) bool { return slices.Contains(l[name], sum) }

func (l list) add(name string, sum digest) {
	if !l.has(name, sum) {
		l[name] = append(l[name], sum)
	}
}

func (l list) text(kind string) []byte {
	var b bytes.Buffer
	b.WriteString(header + kind + "\n")
	for _, name := range slices.Sorted(maps.Keys(l)) {
		for _, sum := range l[name] {
			fmt.Fprintf(&b, "%x  %s\n", sum, name)
		}
	}
	return b.Bytes()
}

// parseList reads a list, which may come from a stranger: its names stay inside the folder and are none that begins with a dot.
func parseList(text []byte) (l list, kind string, err error) {
	first, rest, _ := strings.Cut(string(text), "\n")
	kind, ok := strings.CutPrefix(strings.TrimRight(first, "\r"), header)
	if !ok {
		return nil, "", errNoList
	}
	l = list{}
	for line := range strings.Lines(rest) {
		number, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "  ")
		sum, err := hex.DecodeString(number)
		if !ok || err != nil || len(sum) != sha256.Size || !listable(name) {
			return nil, "", errNoList
		}
		l.add(name, digest(sum))
	}
	return l, kind, nil
}

// listable reports whether the program may write a file of that name.
func listable(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && path.Clean(name) == name && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\\' })
}

// inside looks into a folder. No link in it is followed.
type inside struct {
	root *os.Root
	ctx  context.Context
}

// list is that of a folder of a kind, empty if it has none.
func (i inside) list(kind string) (list, error) {
	info, err := i.root.Lstat(ListName)
	if errors.Is(err, fs.ErrNotExist) {
		return list{}, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostList {
		return nil, errNoList
	}
	text, err := i.root.ReadFile(ListName)
	if err != nil {
		return nil, err
	}
	l, is, err := parseList(text)
	if err == nil && is != kind {
		err = &ListError{fmt.Sprintf("says that this folder holds %.60s, and not %s: choose another folder", is, kind)}
	}
	return l, err
}

// found is what stands at a name.
type found struct {
	absent bool
	sum    digest // of a regular file; zero for anything else, which the program never writes
	mode   fs.FileMode
}

// look finds out what stands at a name.
func (i inside) look(name string) (found, error) {
	there, err := i.stands(name)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, cause(err))
	}
	return there, err
}

func (i inside) stands(name string) (found, error) {
	if err := i.ctx.Err(); err != nil {
		return found{}, err
	}
	for at := range parents(name) {
		info, err := i.root.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return found{absent: true}, nil
		}
		if err != nil || !info.IsDir() { // a file, or a link
			return found{}, err
		}
	}
	info, err := i.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return found{absent: true}, nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostOurs {
		return found{}, err
	}
	f, err := i.root.Open(name)
	if err != nil {
		return found{}, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, mostOurs)); err != nil {
		return found{}, err
	}
	return found{sum: digest(h.Sum(nil)), mode: info.Mode()}, nil
}

// parents are the folders above a name, the outermost first.
func parents(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for at, c := range name {
			if c == '/' && !yield(name[:at]) {
				return
			}
		}
	}
}
