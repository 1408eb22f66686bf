package engine

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// unpacked returns a folder with the files of the package, which it creates if it is missing or incomplete. The folder appears under
// its name only when complete, so that programs which start at the same time never see half of it.
func (p *Python) unpacked() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cache := p.Cache
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(user, "collapse")
	}
	dir := filepath.Join(cache, "python-"+p.Version)
	if p.whole(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(cache, ".unpacking-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(filepath.Join(tmp, "new"), p.Files); err != nil {
		return "", err
	}
	// A damaged folder is replaced; if another program was faster, its folder stays.
	if err := os.Rename(dir, filepath.Join(tmp, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.Rename(filepath.Join(tmp, "new"), dir); err != nil && !p.whole(dir) {
		return "", err
	}
	return dir, nil
}

// whole reports whether dir has the files of the package unchanged. Python may add files of its own.
func (p *Python) whole(dir string) bool {
	return fs.WalkDir(p.Files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		want, err := fs.ReadFile(p.Files, name)
		if err != nil {
			return err
		}
		is, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil && !bytes.Equal(is, want) {
			err = fs.ErrInvalid
		}
		return err
	}) == nil
}
