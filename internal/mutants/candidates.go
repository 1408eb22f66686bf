package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// edit replaces a part of a file.
type edit struct {
	from, to int
	text     string
}

type fate int

const (
	untried fate = iota
	killed
	survived
)

// mutant is one change of one function.
type mutant struct {
	id        int
	file, fn  string // the file below the checkout
	line      int
	kind      string
	old, new  string // what is changed, on one line
	edit      edit
	body      span   // of the function, without its braces
	results   bool   // whether the function returns something
	labels    []edit // names of labels, which must differ between copies of a function
	entry     edit   // of Python: what says in the function that a run came
	rank      uint64
	reachedBy []int // tests
	fate      fate
	killedBy  error // what the tests said
}

type span struct{ from, to int }

// where names the function of a change.
func (m *mutant) where() string { return m.file + ":" + m.fn }

// candidates are all changes that could be made to a package as it is built here.
func candidates(root, pkg string) ([]*mutant, error) {
	p, err := build.ImportDir(filepath.Join(root, pkg), 0)
	if err != nil {
		return nil, err
	}
	var all []*mutant
	for _, name := range p.GoFiles {
		file := pkg + "/" + name
		src, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, src, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(f) {
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Name.Name != "init" {
				all = append(all, inFunction(source{fset, src}, file, fn)...)
			}
		}
	}
	return all, nil
}

// pick takes the seed's choice of changes. The rank of a change depends on its own text alone, so that work on one function leaves the
// choice in others as it is. Of each function and kind a few come first, so that long functions and frequent kinds do not fill the choice.
func pick(all []*mutant, seed int64, n int) []*mutant {
	again := map[string]int{}
	for _, m := range all {
		text := strings.Join([]string{m.where(), m.kind, m.old, m.new}, "\x00")
		again[text]++
		h := fnv.New64a()
		fmt.Fprintf(h, "%d\x00%s\x00%d", seed, text, again[text])
		m.rank = mixed(h.Sum64())
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *mutant) int { return cmp.Compare(a.rank, b.rank) })
	picked := map[*mutant]bool{}
	var list []*mutant
	for round := 1; len(list) < min(n, len(all)); round++ {
		perFunction, perKind := map[string]int{}, map[string]int{}
		for _, m := range list {
			perFunction[m.where()]++
			perKind[m.kind]++
		}
		for _, m := range all {
			if len(list) < n && !picked[m] && perFunction[m.where()] < 2*round && perKind[m.kind] < max(2, n/6)*round {
				picked[m] = true
				list = append(list, m)
				perFunction[m.where()]++
				perKind[m.kind]++
			}
		}
	}
	return list
}

// mixed spreads a hash whose last bytes alone differ over all its bits (the end of splitmix64).
func mixed(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
