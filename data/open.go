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
	TrainSamples  int    // training samples in total, equally many per class; 0: see TrainPerClass. Only for files, and not with TrainPerClass
	TestSamples   int    // likewise
	First         bool   // subsets per class keep the first samples of the file instead of some drawn by Seed (Zhu et al. 2021's sample_size)
	Seed          uint64 // which samples a subset keeps; which samples glyphs draws
	Size          int    // glyphs: height and width, 28 (also if 0), 32 or 84; folder: images are resized to Size×Size; 0: they have one size
	Color         bool   // glyphs: three channels
}

// RootVariable is the environment variable that names the root of the data sets.
const RootVariable = "COLLAPSE_DATA"

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
		if src.TrainSamples != 0 || src.TestSamples != 0 || src.First {
			return nil, fmt.Errorf("data: glyphs are drawn per class; total and first samples are for sets from files")
		}
		defaults := [2]int{Train: DefaultTrainPerClass, Test: DefaultTestPerClass}
		return Glyphs(GlyphConfig{Split: split, Classes: cmp.Or(src.Classes, 10), PerClass: cmp.Or(perClass, defaults[split]),
			Size: cmp.Or(src.Size, 28), Color: src.Color, Seed: src.Seed})
	}
	whole, err := openFiles(registry[i], src, split)
	if err != nil {
		return nil, err
	}
	return src.Subset(whole)
}

// Whole is the source of all samples of the same classes; false for glyphs, of which there is no whole.
func (src Source) Whole() (Source, bool) {
	i := slices.IndexFunc(registry, func(i *Info) bool { return i.Name == src.Name })
	whole := Source{Name: src.Name, Root: src.Root, Classes: src.Classes, Size: src.Size, Color: src.Color}
	return whole, i >= 0 && !registry[i].BuiltIn()
}

// Subset returns what Open does, given the set that its Whole opens.
func (src Source) Subset(whole *Set) (*Set, error) {
	s, err := src.subset(whole)
	if err != nil || s == whole {
		return s, err
	}
	return s.seal(), nil
}

func openFiles(info *Info, src Source, split Split) (*Set, error) {
	if src.Color || src.Size != 0 && info.Name != folderName {
		return nil, fmt.Errorf("data: %s comes from files; a colour can be chosen for glyphs only, a size for glyphs and folder", info.Name)
	}
	dir, err := info.find(rootOf(src.Root), split)
	if err != nil {
		return nil, err
	}
	s, err := info.read(info, dir, split, src.Size)
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
	return s.seal(), nil
}

// subset keeps the number of samples that the source sets.
func (src Source) subset(s *Set) (*Set, error) {
	perClass, inAll := src.TrainPerClass, src.TrainSamples
	if s.Split == Test {
		perClass, inAll = src.TestPerClass, src.TestSamples
	}
	switch {
	case inAll != 0 && (perClass != 0 || src.First):
		return nil, fmt.Errorf("data: %s %s: both %d samples in total and %d per class (first ones: %v) were requested; give only one", s.Name, s.Split, inAll, perClass, src.First)
	case inAll != 0:
		return s.inAll(inAll, src.Seed)
	case perClass != 0 && src.First:
		return s.firstPerClass(perClass)
	case perClass != 0:
		return s.perClass(perClass, src.Seed)
	}
	return s, nil
}

func rootOf(root string) string { return cmp.Or(root, os.Getenv(RootVariable)) }

// find returns the first directory of the set below root that has all files of the split. A root with
// the name of one of those directories may also hold the files itself, because people name either.
func (i *Info) find(root string, split Split) (string, error) {
	missing := &MissingError{Name: i.Name, Split: split, Root: root, Origin: i.Origin, Dirs: i.dirs, Files: i.files[split], info: i}
	if root == "" {
		return "", missing
	}
	for _, dir := range i.places(root) {
		if !slices.ContainsFunc(i.files[split], func(f string) bool { return i.path(dir, f) == "" }) {
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

// MissingError says that the files of a data set were not found.
type MissingError struct {
	Name   string
	Split  Split
	Root   string   // "": no root was given
	Dirs   []string // searched, below the root
	Files  []string // looked for
	Origin string   // where they come from

	info *Info
}

func (e *MissingError) Error() string {
	place := "no data directory was given"
	if e.Root != "" {
		place = "not found in " + filepath.Join(e.Root, e.Dirs[0])
		for _, d := range e.Dirs[1:] {
			place += " or " + filepath.Join(e.Root, d)
		}
		if found := plainPath(e.Root, e.info.python); e.info.python != "" && found != "" {
			place += "; " + found + " is the Python version, which is not read"
		}
	}
	return fmt.Sprintf("data: %s %s: %s; wanted %s: %s", e.Name, e.Split, place, strings.Join(e.Files, " and "), e.info.advice())
}

// advice says how to get the files of a set, by command and by hand.
func (i *Info) advice() string {
	if i.Name == folderName {
		return "name a directory that holds train/ and test/, each with a folder of PNG or JPEG images for every class, with --data-dir or " + RootVariable
	}
	text := fmt.Sprintf("from %s: put them (%s) into %s/ of a directory of your choice and name that directory with --data-dir or %s", i.Origin, i.form(), i.dirs[0], RootVariable)
	if len(i.Remote) > 0 {
		text = fmt.Sprintf("run `collapse data get %s`, or fetch them by hand %s", i.Name, text)
	}
	return text
}

// UnknownError says that no data set has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	names := make([]string, len(registry))
	for i, info := range registry {
		names[i] = info.Name
	}
	return fmt.Sprintf("data: no data set is called %q; wanted one of %s", e.Name, strings.Join(names, ", "))
}
