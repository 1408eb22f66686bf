package outfile

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
)

// changes are what has to happen in a folder.
type changes struct {
	replace []string // new files, and those that were the program's own
	remove  []string // the program's own that are not made any more
	after   list     // what the program will have written
}

// commit gives the new files their names. The list knows the old and the new ones before the first is replaced.
func (s *spooled) commit() error {
	c, err := s.compare()
	if err != nil {
		return err
	}
	first, err := s.spoolList(s.known(c))
	if err != nil {
		return err
	}
	last, err := s.spoolList(c.after)
	if err != nil {
		return err
	}
	writing.RLock() // a program that exits waits until all of it is done
	defer writing.RUnlock()
	return s.apply(c, first, last)
}

// known is the list while files are replaced: the old ones and the new ones.
func (s *spooled) known(c changes) list {
	both := list{}
	for _, l := range []list{s.old, c.after} {
		for name, sums := range l {
			for _, sum := range sums {
				both.add(name, sum)
			}
		}
	}
	return both
}

// compare finds out what is there, and refuses if anything foreign is in the way, or a file that the command reads.
func (s *spooled) compare() (c changes, err error) {
	c.after = list{}
	foreign := &ForeignError{folder: s.to.path, Unlisted: len(s.old) == 0}
	for _, name := range s.order {
		there, err := s.look(name)
		if err != nil {
			return c, err
		}
		sum := s.puts[name].sum
		switch {
		case there.absent || there.sum != sum && s.old.has(name, there.sum):
			c.replace = append(c.replace, name)
			if !there.absent {
				err = s.root.Chmod(s.puts[name].spool, there.mode.Perm())
			}
		case there.sum != sum:
			foreign.Names = append(foreign.Names, name)
		}
		if err != nil {
			return c, err
		}
		c.after.add(name, sum)
	}
	for name := range s.old {
		if _, again := s.puts[name]; again {
			continue
		}
		there, err := s.look(name)
		switch {
		case err != nil:
			return c, err
		case there.absent || !s.old.has(name, there.sum): // it is not ours any more
		case s.kept[name]:
			c.after.add(name, there.sum)
		default:
			c.remove = append(c.remove, name)
		}
	}
	if err := s.to.inputs(append(slices.Clone(s.order), c.remove...)); err != nil {
		return c, err
	}
	return c, foreign.orNil()
}

// inputs refuses to change files that the command reads.
func (f *Folder) inputs(names []string) error {
	for _, name := range names {
		path := filepath.Join(f.path, filepath.FromSlash(name))
		t, err := resolve(path)
		if err != nil {
			continue // a folder that is not there yet
		}
		file := &File{of: f.of, target: t}
		err = file.input()
		file.target.release()
		if err != nil {
			return err
		}
	}
	return nil
}

// spoolList writes a list, with the mode of the one that is there.
func (s *spooled) spoolList(l list) (string, error) {
	name, err := s.spool(content(l.text(s.to.kind)))
	if there, missing := s.root.Lstat(ListName); err == nil && missing == nil {
		err = s.root.Chmod(name, there.Mode().Perm())
	}
	return name, err
}

// apply is all that changes files of the folder. If it is cut short, the next command that writes the folder mends it. So that this holds
// after a power cut, too, each step waits for the disk before the next: the list that knows all files, the files, what shows them, which was
// put last, and removals.
func (s *spooled) apply(c changes, first, last string) error {
	for _, name := range c.replace {
		if err := s.root.MkdirAll(path.Dir(name), 0o777); err != nil {
			return err
		}
	}
	if err := errors.Join(cause(s.root.Rename(first, ListName)), s.syncFolders(nil)); err != nil {
		return err
	}
	for i, name := range c.replace {
		if i == len(c.replace)-1 {
			if err := s.syncFolders(c.replace[:i]); err != nil {
				return err
			}
		}
		if err := s.root.Rename(s.puts[name].spool, name); err != nil {
			return cause(err)
		}
	}
	err := s.syncFolders(c.replace)
	if err != nil {
		return err
	}
	for _, name := range c.remove {
		err = errors.Join(err, cause(s.root.Remove(name)))
		for dir := path.Dir(name); dir != "." && s.root.Remove(dir) == nil; dir = path.Dir(dir) { // folders that are empty now
		}
	}
	if err := errors.Join(err, s.syncFolders(c.remove)); err != nil {
		return err
	}
	return cause(s.root.Rename(last, ListName))
}

// syncFolders waits until the disk has the names in the folder and in those folders in it that hold the files.
func (s *spooled) syncFolders(files []string) error {
	folders := map[string]bool{".": true}
	for _, name := range files {
		for dir := range parents(name) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		f, err := s.root.Open(dir)
		if errors.Is(err, fs.ErrNotExist) { // it was empty
			continue
		}
		if err == nil {
			err = errors.Join(flush(f), f.Close())
		}
		if err != nil {
			return cause(err)
		}
	}
	return nil
}
