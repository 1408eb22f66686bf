package arrayfile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/damage.txt anew")

// samples are small files of every format, as other programs wrote them, and our own.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, pattern := range []string{"testdata/*", "../internal/featurefiles/testdata/origins/*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil || info.IsDir() || info.Size() > 18_000 || slices.Contains([]string{".py", ".txt", ".tmp"}, filepath.Ext(path)) {
				continue
			}
			if out[filepath.Base(path)], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	arrays := []Array{Of("h", []int{2, 2}, []float32{1, 2, 3, 4}), Of("y", []int{2}, []int64{0, 1}), Of("s", nil, []bool{true})}
	for name, write := range formats {
		b, err := write(arrays[:map[bool]int{true: 1, false: 3}[name == "npy"]])
		if err != nil {
			t.Fatal(err)
		}
		out["ours."+name] = b
	}
	return out
}

// spelled is all that a file gives: each array with a digest of its elements, and why others are refused.
func spelled(b []byte) (text string, err error) {
	f, err := Parse(b)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var all []string
	for _, e := range f.entries {
		a, err := f.Load(e.Name)
		if err != nil {
			all = append(all, fmt.Sprintf("%q: refused: %s", e.Name, strings.ReplaceAll(err.Error(), "\n", "; ")))
			continue
		}
		sum := sha256.Sum256(a.Data)
		all = append(all, fmt.Sprintf("%q: %s %v %v %v %x %q", a.Name, a.DType, a.Shape, a.Fortran, a.BigEndian, sum[:6], a.Categories))
	}
	return strings.Join(append(all, fmt.Sprint(f.Metadata)), "\n"), nil
}

var (
	quotations = regexp.MustCompile(`"(\\.|[^"\\])*"|'[^']*'`)
	digits     = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)
	places     = regexp.MustCompile(`[A-Za-z0-9_#]+/data.pkl`)
)

// libraries begin what a library says, which is not ours and may differ from one version or processor to another.
var libraries = regexp.MustCompile(`(decoding|reading parquet|unpacking a page:|brotli|zstd|lz#|snappy|s#|flate|gzip|zlib|invalid file metadata|runtime error|page header: |metadata: missing|json:|invalid character|parse error|zip:)[^;]*`)

// cause is an error's text without what differs from byte to byte.
func cause(text string) string {
	text = digits.ReplaceAllString(quotations.ReplaceAllString(text, "“”"), "#")
	return libraries.ReplaceAllString(places.ReplaceAllString(strings.ReplaceAll(text, "\n", "; "), "…/data.pkl"), "$1 …")
}

// outcome says in words what has become of a damaged file.
func outcome(b []byte, whole string) string {
	text, err := spelled(b)
	switch {
	case err != nil:
		return cause(err.Error())
	case text == whole:
		return "as before"
	}
	before := strings.Split(whole, "\n")
	for _, line := range strings.Split(text, "\n") {
		if _, why, refused := strings.Cut(line, ": refused: arrayfile: : "); refused && !slices.Contains(before, line) {
			return "refused: " + cause(why)
		}
	}
	return "other contents"
}

// damaged are copies of a file: one byte is wrong, at every place or at most at so many, or the file ends there.
func damaged(b []byte, most int, visit func(b []byte)) {
	step := 1 + len(b)/most
	for at := 0; at < len(b); at += step {
		for n, wrong := range []byte{^b[at], b[at] + 1, b[at] - 1, 0, 255, b[at] ^ 0x80} {
			if (at/step)%6 != n && at > 64 { // all six at the beginning, else one after the other
				continue
			}
			if wrong != b[at] {
				c := bytes.Clone(b)
				c[at] = wrong
				visit(c)
			}
		}
	}
	for at := 1; at < len(b); at += 1 + 4*step {
		visit(b[:at])
	}
}

// need is the smallest budget within which a file is read.
func need(b []byte) int64 {
	low, high := int64(-1), int64(1<<33)
	for high-low > 1 {
		middle := (low + high) / 2
		if readsWithin(b, middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

func readsWithin(b []byte, bytes int64) bool {
	budget := NewBudget(bytes)
	f, err := ParseWithin(b, budget)
	if err != nil {
		return !errors.As(err, new(*BudgetError))
	}
	defer f.Close()
	for _, e := range f.entries {
		if _, err := f.Load(e.Name); errors.As(err, new(*BudgetError)) {
			return false
		}
	}
	return true
}

// TestWhatDamageIsCalled damages files of every format byte by byte. testdata/damage.txt has what each whole file gives and needs, a digest of what
// becomes of its damaged copies, and how often each cause is given for all files together: whoever changes a line there sees which damage is now
// called otherwise, or passes unseen.
func TestWhatDamageIsCalled(t *testing.T) {
	const record = "testdata/damage.txt"
	kept, err := os.ReadFile(record)
	if err != nil && !*update {
		t.Fatal(err)
	}
	all, causes := samples(t), map[string]int{}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		whole, err := spelled(all[name])
		if err != nil {
			whole = "error " + err.Error()
		}
		outcomes := sha256.New()
		most := 300
		if ext := filepath.Ext(name); isHDF5(all[name]) || ext == ".arrow" || ext == ".feather" { // structures that point at each other
			most = 1200
		}
		damaged(all[name], most, func(b []byte) {
			what := outcome(b, whole)
			causes[what]++
			if what == "other contents" {
				what, _ = spelled(b)
			}
			fmt.Fprintln(outcomes, what)
		})
		sum := sha256.Sum256([]byte(whole))
		lines = append(lines, fmt.Sprintf("%s gives %x, needs %d bytes, damaged %x", name, sum[:4], need(all[name]), outcomes.Sum(nil)[:4]))
	}
	for _, what := range slices.Sorted(maps.Keys(causes)) {
		lines = append(lines, fmt.Sprintf("%d times: %s", causes[what], what))
	}
	if *update {
		if err := os.WriteFile(record, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(kept)), "\n"), lines); diff != "" {
		t.Errorf("damaged files are called otherwise (go test ./arrayfile -run WhatDamage -update writes %s anew, if that is meant):\n%s", record, diff)
	}
}

// TestChecksumsAreHeeded: whatever byte of an archive or a packed file is wrong, there is an error or the very same arrays.
func TestChecksumsAreHeeded(t *testing.T) {
	errorsSeen := 0
	for name, b := range samples(t) {
		if ext := filepath.Ext(name); ext != ".npz" && ext != ".gz" {
			continue
		}
		whole, err := spelled(b)
		if err != nil {
			continue
		}
		damaged(b, 2000, func(b []byte) {
			switch outcome(b, whole) {
			case "other contents":
				text, _ := spelled(b)
				t.Errorf("%s: a damaged file gives\n%s\ninstead of\n%s", name, text, whole)
			case "as before":
			default:
				errorsSeen++
			}
		})
	}
	if errorsSeen < 1000 {
		t.Errorf("%d errors", errorsSeen)
	}
}
