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
	"path/filepath"
	"regexp"
	"slices"

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
	return digest(folder, patterns)
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
	digests, err := digest(folder, patterns)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		list = append(list, digests[name])
	}
	return list, err
}

func digest(folder string, patterns []string) (map[string]string, error) {
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
			if digests[filepath.ToSlash(name)], err = digestFile(path); err != nil {
				return nil, err
			}
		}
	}
	return digests, nil
}

// expand lists the regular files that match a pattern, relative to the folder unless the pattern is absolute.
func expand(folder, pattern string) (names []string, err error) {
	if filepath.IsAbs(pattern) {
		names, err = filepath.Glob(pattern)
	} else {
		names, err = fs.Glob(os.DirFS(folder), filepath.ToSlash(filepath.Clean(pattern)))
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", pattern, err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		path := name
		if !filepath.IsAbs(name) {
			path = filepath.Join(folder, name)
		}
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	})
	if len(names) == 0 {
		return nil, fmt.Errorf("%q names no file in %s", pattern, folder)
	}
	return names, nil
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
