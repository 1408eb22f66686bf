package featurefiles

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"collapse.example/collapse/internal/inputfile"
)

// A model that is saved in several files comes with a list that says which array is in which of them (model.safetensors.index.json, also
// of PyTorch's .bin). Its files are read as if they were one: each array is in one of them.

const (
	indexSuffix = ".index.json"
	mostIndex   = 64 << 20 // bytes
	mostShards  = 10_000
)

// openIndex opens the files of a list, which lie beside it.
func (l *library) openIndex(path string) ([]*shard, error) {
	text, err := inputfile.Read(path, mostIndex)
	if err != nil {
		return nil, err
	}
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, fmt.Errorf("%s: want a list of the files of a model, {\"weight_map\": {array: file, …}}: %w", path, err)
	}
	files := map[string]bool{}
	for _, name := range index.WeightMap {
		if name == "" || filepath.Base(name) != name || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s: %.80q is not the name of a file beside it", path, name)
		}
		files[name] = true
	}
	if len(files) == 0 || len(files) > mostShards {
		return nil, fmt.Errorf("%s: weight_map names %d files; want 1 to %d", path, len(files), mostShards)
	}
	var out []*shard
	for _, name := range slices.SortedFunc(maps.Keys(files), natural) {
		s, err := l.open(filepath.Join(filepath.Dir(path), name))
		if err != nil {
			return nil, fmt.Errorf("%s names %s: %w", path, name, err)
		}
		s.index = path
		out = append(out, s)
	}
	return out, nil
}
