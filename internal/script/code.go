package script

import (
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
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/inputfile"
)

// mostFiles bounds the files of one list.
const mostFiles = 10_000

// DigestCode digests the files in folder that match patterns, by their paths in it. Patterns are relative and stay inside the folder.
func DigestCode(folder string, patterns []string) (map[string]string, error) {
	for _, p := range patterns {
		if !filepath.IsLocal(p) {
			return nil, fmt.Errorf("%q is not in the folder of the study's file, %s; wanted names and patterns below it", p, folder)
		}
	}
	return digest(folder, patterns, digestFile)
}

// DigestFiles adds the digests of files in folder, by their paths in it with slashes.
func DigestFiles(folder string, names []string, into map[string]string) (err error) {
	for _, name := range names {
		if into[name], err = digestFile(filepath.Join(folder, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

// DigestData digests the files that match patterns, relative to folder or absolute, ordered by name.
func DigestData(folder string, patterns []string) ([]string, error) {
	digests, err := digest(folder, patterns, digestOnce)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		list = append(list, digests[name])
	}
	return list, err
}

func digest(folder string, patterns []string, read func(path string) (string, error)) (map[string]string, error) {
	digests := map[string]string{}
	for _, p := range patterns {
		names, err := expand(folder, p)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if len(digests) == mostFiles {
				return nil, fmt.Errorf("%q and the patterns before it name more than %d files", p, mostFiles)
			}
			path := name
			if !filepath.IsAbs(name) {
				path = filepath.Join(folder, name)
			}
			if digests[filepath.ToSlash(name)], err = read(path); err != nil {
				return nil, err
			}
		}
	}
	return digests, nil
}

// expand lists the regular files that match a pattern, relative to the folder unless the pattern is absolute.
func expand(folder, pattern string) (names []string, err error) {
	if strings.Contains(pattern, "**") {
		names, err = below(folder, pattern, mostEntries)
	} else if filepath.IsAbs(pattern) {
		names, err = filepath.Glob(pattern)
	} else {
		names, err = beside(folder, pattern)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", pattern, err)
	}
	folders := len(names)
	names = slices.DeleteFunc(names, func(name string) bool {
		path := name
		if !filepath.IsAbs(name) {
			path = filepath.Join(folder, name)
		}
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	})
	if len(names) == 0 && folders > 0 {
		return nil, fmt.Errorf("%q names a folder; wanted files, such as %q or, with all below it, %q", pattern, pattern+"/*", pattern+"/**")
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%q names no file in %s", pattern, folder)
	}
	return names, nil
}

// beside lists the files that match a relative pattern without **, which may begin with "..".
func beside(folder, pattern string) ([]string, error) {
	up, rest := "", filepath.ToSlash(filepath.Clean(pattern))
	for strings.HasPrefix(rest, "../") {
		up, rest = up+"../", rest[len("../"):]
	}
	names, err := fs.Glob(os.DirFS(filepath.Join(folder, up)), rest)
	for i, name := range names {
		names[i] = up + name
	}
	return names, err
}

// mostEntries bounds the entries that a pattern with ** is compared with.
const mostEntries = 100_000

// below lists the files that match a pattern in which ** stands for any folders, none included, and at its end for all files below,
// among at most so many entries.
func below(folder, pattern string, most int) (names []string, err error) {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(pattern)), "/")
	if stars := len(slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return part != "**" })); stars > 2 {
		return nil, fmt.Errorf("** stands %d times in it; wanted at most twice", stars)
	}
	if parts[len(parts)-1] == "**" {
		parts = append(parts, "*")
	}
	fixed := slices.IndexFunc(parts, func(part string) bool { return strings.ContainsAny(part, "*?[") })
	root, at := filepath.FromSlash(strings.Join(parts[:fixed], "/")), folder
	if filepath.IsAbs(pattern) {
		root, at = filepath.Join(string(filepath.Separator), root), ""
	}
	seen := 0
	err = filepath.WalkDir(filepath.Join(at, root), func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > most {
			return fmt.Errorf("more than %d files and folders lie there; name a folder further down", most)
		}
		if err != nil || e.IsDir() {
			return err
		}
		name := path
		if at != "" {
			if name, err = filepath.Rel(at, path); err != nil {
				return err
			}
		}
		match, err := matches(parts, strings.Split(filepath.ToSlash(name), "/"))
		if match {
			names = append(names, name)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return names, err
}

// matches reports whether the parts of a path are those of a pattern.
func matches(pattern, parts []string) (bool, error) {
	if len(pattern) == 0 {
		return len(parts) == 0, nil
	}
	if pattern[0] == "**" {
		for i := range len(parts) + 1 {
			if ok, err := matches(pattern[1:], parts[i:]); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	if len(parts) == 0 {
		return false, nil
	}
	ok, err := path.Match(pattern[0], parts[0])
	if !ok || err != nil {
		return false, err
	}
	return matches(pattern[1:], parts[1:])
}

// digests are those of files of data that were read before, by what tells that they have not changed since: data may be large, and each run looks.
var digests sync.Map

type fileState struct {
	path     string
	size     int64
	modified time.Time
}

// longAgo is how old a change must be for the modification time to tell it from a later one.
const longAgo = 2 * time.Second

func digestOnce(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	state := fileState{path, info.Size(), info.ModTime()}
	if known, ok := digests.Load(state); ok {
		return known.(string), nil
	}
	sum, err := digestFile(path)
	if err == nil && time.Since(state.modified) > longAgo {
		digests.Store(state, sum)
	}
	return sum, err
}

func digestFile(path string) (string, error) {
	f, err := inputfile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// epochsFlag is what many scripts call the number of epochs on the command line, for which they make their schedules.
const epochsFlag = "epochs"

// mostRead is how much of a file of code is searched for a flag.
const mostRead = 1 << 20

// flagLiteral is a flag as code names it that reads one.
var flagLiteral = regexp.MustCompile(`["']--([A-Za-z][A-Za-z0-9_.-]*)["']`)

// Flags are the flags that the code names, without dashes, sorted.
func (s Spec) Flags(folder string) []string {
	found := map[string]bool{}
	for name := range s.Code {
		f, err := inputfile.Open(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, mostRead))
		f.Close()
		if err != nil {
			continue
		}
		for _, m := range flagLiteral.FindAllSubmatch(text, mostFlags) {
			found[string(m[1])] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// mostFlags bounds the flags of a file that are looked at.
const mostFlags = 1000

// ChangedError says that the code in a folder differs from that of the run.
type ChangedError struct{ Path, Why string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("script: %s %s: the run is of other code. A worker needs a copy of the code on the study's machine, where `collapse study run FILE` makes runs of the code as it is now", e.Path, e.Why)
}

// DataError says that the data in a folder differ from those of the run.
type DataError struct{ Why string }

func (e *DataError) Error() string {
	return fmt.Sprintf("script: the data are not those of the run: %s. `collapse study run FILE` makes runs of the data as they are now; a worker needs a copy of those on the study's machine", e.Why)
}

// checkData compares the files that the run reads, as patterns name them in folder, with its digests.
func (s Spec) checkData(folder string) error {
	if len(s.Inputs) == 0 {
		return nil // none, or a study of an earlier version
	}
	found, err := DigestData(folder, s.Inputs)
	switch {
	case err != nil:
		return &DataError{err.Error()}
	case !slices.Equal(found, s.Data):
		return &DataError{fmt.Sprintf("files that %s names in %s have changed", format.List(s.Inputs), folder)}
	}
	return nil
}

// ChangedIn is a file of the run's code that is another in folder, or not there; "" if there is none.
func (s Spec) ChangedIn(folder string) string {
	var changed *ChangedError
	if errors.As(s.checkCode(folder), &changed) {
		return changed.Path
	}
	return ""
}

// checkCode compares the files in folder with the digests of a run.
func (s Spec) checkCode(folder string) error {
	for _, name := range slices.Sorted(maps.Keys(s.Code)) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return &ChangedError{name, "is not below the folder of the code"}
		}
		found, err := digestFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return &ChangedError{path, "is not there"}
		}
		if err != nil {
			return fmt.Errorf("script: %w", err)
		}
		if found != s.Code[name] {
			return &ChangedError{path, "has changed"}
		}
	}
	return nil
}
