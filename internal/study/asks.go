package study

import (
	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/train"
)

// Asks is the number of runs for which the grid of a study asks, from the text that the lab keeps of its file; 0 if that tells no grid, as of a
// search. It may be larger than the number of the study's runs: somebody may have removed some.
func Asks(source string) int {
	var tree fileTable
	if toml.Unmarshal([]byte(source), &tree) != nil || tree.Search != nil || len(tree.Base)+len(tree.Grid) == 0 && tree.Trainer == nil {
		return 0
	}
	bad := &FileError{}
	f := &File{base: train.SettingsIn(tree.Base), Source: source}
	if tree.Trainer != nil {
		f.Trainer = &Trainer{}
	}
	sets, seeds := Overrides(source)
	f.readGrid(train.Flat(tree.Grid), bad)
	f.override(sets, bad)
	if seeds > 0 {
		tree.Study.Seeds = int64(seeds)
	}
	f.readSeeds(tree.Study.Seeds, bad)
	if len(bad.Problems) > 0 || !f.checkSize(bad) {
		return 0
	}
	n := max(1, len(f.seeds))
	for _, a := range f.axes {
		n *= len(a.values)
	}
	return n
}
