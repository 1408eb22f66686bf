package data

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source says which data a run uses. The zero value of a field means its default.
type Source struct {
	Name          string // one of List
	Root          string // directory that holds the data sets; "": environment COLLAPSE_DATA. Not read for glyphs
	Classes       int    // first K classes; 0: all of a file's, 10 of glyphs
	TrainPerClass int    // training samples per class; 0: all of a file's, DefaultTrainPerClass of glyphs
	TestPerClass  int    // test samples per class; 0: all of a file's, DefaultTestPerClass of glyphs
	Seed          uint64 // which samples a subset keeps; which samples glyphs draws
	Size          int    // glyphs: height and width, 28 (also if 0), 32 or 84
	Color         bool   // glyphs: three channels
}

// RootVariable is the environment variable that names the root of the data sets.
const RootVariable = "COLLAPSE_DATA"

// Info describes a data set that has a name.
type Info struct {
	Name    string
	Title   string
	Origin  string // where its files come from; "" for a set that is built in
	Classes int    // the most classes it has
	Shape   Shape  // of its images; for glyphs the default

	dirs  []string    // below the root, where its files may lie
	files [2][]string // by split: the files it needs, without ending
	read  func(info *Info, dir string, split Split) (*Set, error)
}

// BuiltIn says that the set is drawn by the program and needs no files.
func (i *Info) BuiltIn() bool { return i.read == nil }

// registry lists every named set once. A set of another file format adds its own read function.
var registry = []*Info{
	{Name: "glyphs", Title: "digits, letters and symbols drawn from Go's fonts", Classes: MaxGlyphClasses, Shape: Shape{1, 28, 28}},
	{Name: "mnist", Title: "MNIST handwritten digits (LeCun, Cortes & Burges 1998)", Origin: "yann.lecun.com/exdb/mnist",
		Classes: 10, Shape: Shape{1, 28, 28}, dirs: []string{"mnist", "MNIST/raw"}, files: idxFiles, read: readIDXSet},
	{Name: "fashion-mnist", Title: "Fashion-MNIST articles of clothing (Xiao, Rasul & Vollgraf 2017)", Origin: "github.com/zalandoresearch/fashion-mnist",
		Classes: 10, Shape: Shape{1, 28, 28}, dirs: []string{"fashion-mnist", "FashionMNIST/raw"}, files: idxFiles, read: readIDXSet},
}

// List returns the named sets, built-in ones first.
func List() []Info {
	list := make([]Info, len(registry))
	for i, info := range registry {
		list[i] = *info
	}
	return list
}

// Open returns the training or test half of a source, complete and checked. Errors are
// *UnknownError, *MissingError, or say what is wrong with a file or a size.
func Open(src Source, split Split) (*Set, error) {
	i := slices.IndexFunc(registry, func(i *Info) bool { return i.Name == src.Name })
	if i < 0 {
		return nil, &UnknownError{src.Name}
	}
	perClass := src.TrainPerClass
	if split == Test {
		perClass = src.TestPerClass
	}
	if registry[i].BuiltIn() {
		defaults := [2]int{Train: DefaultTrainPerClass, Test: DefaultTestPerClass}
		return Glyphs(GlyphConfig{Split: split, Classes: cmp.Or(src.Classes, 10), PerClass: cmp.Or(perClass, defaults[split]),
			Size: cmp.Or(src.Size, 28), Color: src.Color, Seed: src.Seed})
	}
	return openFiles(registry[i], src, split, perClass)
}

// Load opens both halves of a source.
func Load(src Source) (train, test *Set, err error) {
	if train, err = Open(src, Train); err != nil {
		return nil, nil, err
	}
	test, err = Open(src, Test)
	return train, test, err
}

func openFiles(info *Info, src Source, split Split, perClass int) (*Set, error) {
	if src.Size != 0 || src.Color {
		return nil, fmt.Errorf("data: %s comes from files; size and colour can be chosen for glyphs only", info.Name)
	}
	dir, err := info.find(rootOf(src.Root), split)
	if err != nil {
		return nil, err
	}
	s, err := info.read(info, dir, split)
	if err != nil {
		return nil, err
	}
	if src.Classes != 0 && src.Classes != s.Classes {
		s, err = s.firstClasses(src.Classes)
	} else {
		err = s.empty()
	}
	if err != nil {
		return nil, err
	}
	if perClass != 0 {
		if s, err = s.perClass(perClass, src.Seed); err != nil {
			return nil, err
		}
	}
	return s.seal(), nil
}

func rootOf(root string) string { return cmp.Or(root, os.Getenv(RootVariable)) }

// find returns the first directory of the set below root that has all files of the split. A root that
// is itself called like one of those directories may hold the files, too: people name either.
func (i *Info) find(root string, split Split) (string, error) {
	missing := &MissingError{Name: i.Name, Split: split, Root: root, Origin: i.Origin, Dirs: i.dirs, Files: i.files[split]}
	if root == "" {
		return "", missing
	}
	for _, dir := range i.places(root) {
		if !slices.ContainsFunc(i.files[split], func(f string) bool { return idxPath(dir, f) == "" }) {
			return dir, nil
		}
	}
	return "", missing
}

// places lists the directories that may hold the set's files.
func (i *Info) places(root string) []string {
	var all []string
	for _, d := range i.dirs {
		all = append(all, filepath.Join(root, filepath.FromSlash(d)))
	}
	for _, d := range i.dirs {
		if clean := filepath.ToSlash(filepath.Clean(root)); clean == d || strings.HasSuffix(clean, "/"+d) {
			all = append(all, root)
		}
	}
	return all
}

// MissingError says that the files of a data set are not where they were looked for.
type MissingError struct {
	Name   string
	Split  Split
	Root   string   // "": no root was given
	Dirs   []string // looked at, below the root
	Files  []string // looked for; each may be gzipped (.gz)
	Origin string   // where they come from
}

func (e *MissingError) Error() string {
	place := "no data directory is given"
	if e.Root != "" {
		place = "not found in " + filepath.Join(e.Root, e.Dirs[0])
		for _, d := range e.Dirs[1:] {
			place += " or " + filepath.Join(e.Root, d)
		}
	}
	return fmt.Sprintf("data: %s %s: %s; wanted %s (plain or .gz), from %s: put them into %s/ of a directory of your choice and name that directory with --data-dir or %s",
		e.Name, e.Split, place, strings.Join(e.Files, " and "), e.Origin, e.Dirs[0], RootVariable)
}

// UnknownError says that no data set has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	names := make([]string, len(registry))
	for i, info := range registry {
		names[i] = info.Name
	}
	return fmt.Sprintf("data: no data set is called %q; there are %s", e.Name, strings.Join(names, ", "))
}
