package featurefiles

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/arrayfile"
)

// library holds every opened file once.
type library struct {
	files   map[string]*shard
	budget  *arrayfile.Budget
	context context.Context // nil: never ends
	part    bool            // budget is of this library alone and released with it
}

// shard is one opened file.
type shard struct {
	path  string
	file  *arrayfile.File
	index string // the list of shards that names this one; "" if a user did
}

// open opens a file, or returns it if it is open.
func (l *library) open(path string) (*shard, error) {
	if s, ok := l.files[path]; ok {
		return s, nil
	}
	if err := ended(l.context); err != nil {
		return nil, err
	}
	f, err := arrayfile.OpenWithin(path, l.budget)
	if err != nil {
		return nil, err
	}
	s := &shard{path: path, file: f}
	if l.files == nil {
		l.files = map[string]*shard{}
	}
	l.files[path] = s
	return s, nil
}

// openAll opens the files of several patterns.
func (l *library) openAll(r Role, patterns []string) ([]*shard, error) {
	paths, err := filesOf(r, patterns)
	if err != nil {
		return nil, err
	}
	var out []*shard
	for _, p := range paths {
		if strings.HasSuffix(p, indexSuffix) {
			some, err := l.openIndex(p)
			if err != nil {
				return nil, err
			}
			out = append(out, some...)
			continue
		}
		s, err := l.open(p)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// reading calls f, which reads from the opened files. An error of a file that changed meanwhile comes before any other: what f says
// of its contents may be of neither the old file nor the new one.
func (l *library) reading(f func() error) error {
	err := arrayfile.Guard(f)
	for _, path := range slices.Sorted(maps.Keys(l.files)) {
		if changed := l.files[path].file.Changed(); changed != nil {
			return changed
		}
	}
	return err
}

// stored returns how many bytes the opened files have.
func (l *library) stored() (bytes int64) {
	for _, s := range l.files {
		bytes += s.file.Size()
	}
	return bytes
}

func (l *library) close() error {
	var errs []error
	for _, s := range l.files {
		errs = append(errs, s.file.Close())
	}
	l.files = nil
	if l.part {
		l.budget.Release()
	}
	return errors.Join(errs...)
}

// filesOf turns patterns into files, and a dataset's folder into those of it.
func filesOf(r Role, patterns []string) ([]string, error) {
	paths, err := expand(r, patterns)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range paths {
		if !isFolder(p) {
			out = append(out, p)
			continue
		}
		files, err := folderFiles(r, p)
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

// expand turns patterns into files: those of one pattern sorted with numbers by their value (shard-2 before
// shard-10), patterns in the order given. A name that exists is not a pattern.
func expand(r Role, patterns []string) ([]string, error) {
	var out []string
	for _, p := range patterns {
		if _, err := os.Stat(p); err == nil {
			out = append(out, p)
			continue
		}
		matches, err := filepath.Glob(p)
		if err != nil {
			return nil, misnamed("%s %q: %w", roles[r].flag, p, err)
		}
		if len(matches) == 0 {
			return nil, misnamed("%s: no file is called or matches %q", r, p)
		}
		slices.SortFunc(matches, natural)
		out = append(out, matches...)
	}
	for i, p := range out {
		if slices.Contains(out[:i], p) {
			return nil, misnamed("%s: %s is named twice; its samples would count twice", r, p)
		}
	}
	return out, nil
}

// natural compares names with runs of digits by their value.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			p, q := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// label is an array's name for people and for recognition: a .npy has none and goes by its file's name.
func (s *shard) label(h arrayfile.Header) string {
	if h.Name != "" {
		return h.Name
	}
	base := strings.TrimSuffix(filepath.Base(s.path), ".gz")
	return strings.TrimSuffix(base, filepath.Ext(base))
}
