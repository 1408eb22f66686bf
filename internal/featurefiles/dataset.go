package featurefiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A folder that Hugging Face's datasets wrote with save_to_disk holds a description and files of Arrow. Several splits have a folder each,
// beside a list of them.
const (
	datasetInfo   = "dataset_info.json"
	datasetSplits = "dataset_dict.json"
)

// datasetFiles returns the files of such a folder, nil if it is none.
func datasetFiles(folder string) ([]string, error) {
	if is, err := exists(filepath.Join(folder, datasetSplits)); err != nil || is {
		if err == nil {
			err = misnamed("%s holds the splits of a dataset; name one of its folders, such as %s", folder, filepath.Join(folder, "train"))
		}
		return nil, err
	}
	if is, err := exists(filepath.Join(folder, datasetInfo)); err != nil || !is {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".arrow" {
			out = append(out, filepath.Join(folder, e.Name()))
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%s has %s and no .arrow file; write the dataset anew with save_to_disk", folder, datasetInfo)
	}
	slices.SortFunc(out, natural)
	return out, nil
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
