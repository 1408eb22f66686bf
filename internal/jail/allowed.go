package jail

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/inputfile"
)

// Top returns a *LinkError if an entry of dir whose name begins with one of the prefixes is a link, unless this user's own file of links
// has it: the lab's own files belong to whoever made the lab. A folder that is missing is in order.
func Top(dir string, prefixes ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		named := func(prefix string) bool { return strings.HasPrefix(e.Name(), prefix) }
		if isLink(e.Type()) && slices.ContainsFunc(prefixes, named) {
			if err := allow(dir, e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// allow returns a *LinkError unless this user's file of links has the link.
func allow(dir, name string) error {
	path := filepath.Join(dir, name)
	from, to, err := ends(dir, name)
	if err != nil {
		return linkError(path, fmt.Sprintf("where it leads cannot be found (%v)", err))
	}
	file, err := allowedFile()
	if err != nil {
		return linkError(path, fmt.Sprintf("remove it; a link of your own needs a file of links, and there is no folder for that (%v)", err))
	}
	allowed, err := read(file)
	if err != nil {
		return err
	}
	if !allowed.has(from, to) {
		return linkError(path, fmt.Sprintf("remove it or, if it is yours, put these lines into %s:\n\n[[link]]\nfrom = %q\nto = %q", file, from, to))
	}
	return nil
}

// ends are both ends of a link as the file of links names them: absolute, without links on the way to them.
func ends(dir, name string) (from, to string, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return "", "", err
	}
	from = filepath.Join(abs, name)
	to, err = filepath.EvalSymlinks(from)
	return from, to, err
}

// allowedFile is where a user names the links that he made himself.
func allowedFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "collapse", "links.toml"), err
}

// allowedLinks is what that file holds.
type allowedLinks struct {
	Link []struct {
		From string `toml:"from"`
		To   string `toml:"to"`
	} `toml:"link"`
}

func read(file string) (a allowedLinks, err error) {
	text, err := inputfile.Read(file, inputfile.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = toml.Unmarshal(text, &a)
	}
	if err != nil {
		return a, fmt.Errorf("the links that you allow: %s: %w", file, err)
	}
	return a, nil
}

func (a allowedLinks) has(from, to string) bool {
	for _, l := range a.Link {
		if filepath.Clean(l.From) == from && filepath.Clean(l.To) == to {
			return true
		}
	}
	return false
}
