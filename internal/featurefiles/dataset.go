package featurefiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"collapse.example/collapse/internal/inputfile"
)

// A folder that Hugging Face's datasets wrote with save_to_disk: state.json lists files of Arrow. Several splits have a folder each, which
// dataset_dict.json lists.
const (
	datasetState  = "state.json"
	datasetSplits = "dataset_dict.json"
)

// datasetFiles returns the files of such a folder, nil if it is none.
func datasetFiles(folder string) ([]string, error) {
	var splits struct{ Splits []string }
	if is, err := readJSON(filepath.Join(folder, datasetSplits), &splits); err != nil || is {
		if err == nil {
			err = fmt.Errorf("%s holds the splits %s; name one of them: %s", folder, strings.Join(splits.Splits, ", "), filepath.Join(folder, "SPLIT"))
		}
		return nil, err
	}
	var state struct {
		Files []struct{ Filename string } `json:"_data_files"`
	}
	is, err := readJSON(filepath.Join(folder, datasetState), &state)
	if err != nil || !is {
		return nil, err
	}
	var out []string
	for _, f := range state.Files {
		if f.Filename == "" || filepath.Base(f.Filename) != f.Filename || !filepath.IsLocal(f.Filename) {
			return nil, fmt.Errorf("%s: %.80q is not the name of a file beside it", filepath.Join(folder, datasetState), f.Filename)
		}
		out = append(out, filepath.Join(folder, f.Filename))
	}
	if len(out) == 0 || len(out) > mostShards {
		return nil, fmt.Errorf("%s names %d files; want 1 to %d", filepath.Join(folder, datasetState), len(out), mostShards)
	}
	return out, nil
}

// readJSON reads a file, and reports whether there is one.
func readJSON(path string, to any) (bool, error) {
	text, err := inputfile.Read(path, mostInfo)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return true, nil
}
