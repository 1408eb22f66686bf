package script

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/outfile"
)

// mostKept is how many bytes of code are copied.
const mostKept = 64 << 20

// Keep copies the code in folder to the user's cache, so that the runs of a study use what it was when the study began, whatever its files
// are meanwhile. The cache lies outside every lab, and a copy is used only if it has the digests of the run.
func (s Spec) Keep(folder string) error {
	dir, err := s.keptIn(folder)
	if err != nil {
		return err
	}
	prune(filepath.Dir(dir))
	left := int64(mostKept)
	for _, name := range slices.Sorted(maps.Keys(s.Code)) {
		at := filepath.FromSlash(name)
		if !filepath.IsLocal(at) {
			return &ChangedError{name, "is not below the folder of the code"}
		}
		n, err := keepFile(filepath.Join(folder, at), filepath.Join(dir, at), s.Code[name], left)
		if err != nil {
			return err
		}
		left -= n
	}
	now := time.Now()
	return os.Chtimes(dir, now, now)
}

// keepFile copies a file of at most so many bytes that has the digest, and returns its size.
func keepFile(from, to, digest string, most int64) (int64, error) {
	f, err := inputfile.Open(from)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	info, statErr := f.Stat()
	if err := errors.Join(err, statErr, f.Close()); err != nil {
		return 0, err
	}
	size := int64(len(text))
	if size > most {
		return 0, fmt.Errorf("script: the code has more than %d MiB", mostKept>>20)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != digest {
		return 0, &ChangedError{from, "has changed"}
	}
	if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, text) {
		return size, nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return 0, err
	}
	if err := outfile.Write(to, text); err != nil {
		return 0, err
	}
	return size, os.Chmod(to, info.Mode().Perm()&0o700|0o600) // a program stays one
}

// keptFor is how long a copy stays that no study has asked for.
const keptFor = 90 * 24 * time.Hour

var keptName = regexp.MustCompile(`^[0-9a-f]{32}$`)

// prune removes old copies.
func prune(dir string) {
	entries, _ := os.ReadDir(dir) // without the folder there is nothing to remove
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && keptName.MatchString(e.Name()) && time.Since(info.ModTime()) > keptFor {
			os.RemoveAll(filepath.Join(dir, e.Name())) // next time, if not now
		}
	}
}

// keptIn is the folder of the copies.
func (s Spec) keptIn(folder string) (string, error) {
	cache, err := keptCache()
	if err != nil {
		return "", err
	}
	folder, err = filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("script: %w", err)
	}
	key, _ := json.Marshal([]any{folder, s.Code}) // of texts alone
	sum := sha256.Sum256(key)
	return filepath.Join(cache, hex.EncodeToString(sum[:16])), nil
}

// keptCache is where the copies of all studies are.
func keptCache() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("script: %w", err)
	}
	return filepath.Join(cache, "collapse", "code"), nil
}

// kept returns the folder of the copies, with links to all that lies beside the code in folder, unless that has gone; "" if there is no copy of
// that code.
func (s Spec) kept(folder string) string {
	dir, err := s.keptIn(folder)
	if err != nil || s.checkCode(dir) != nil {
		return ""
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return ""
	}
	if err := linkBeside(dir, folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return dir
}

// compiled is where Python leaves what it has made of modules, by their time to the second and their size: copies have their own.
const compiled = "__pycache__"

// linkBeside links what a folder has and its copy lacks. Folders that both have hold code, and are gone through.
func linkBeside(dir, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == compiled {
			continue
		}
		here, there := filepath.Join(dir, e.Name()), filepath.Join(folder, e.Name())
		info, err := os.Lstat(here)
		switch {
		case err == nil && info.IsDir() && e.IsDir():
			err = linkBeside(here, there)
		case err == nil: // a copy, or a link from before
		default:
			if err = os.Symlink(there, here); errors.Is(err, os.ErrExist) { // another run was faster
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
