package featurefiles

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/arrayfile"
)

// A folder that Hugging Face's datasets wrote with save_to_disk holds a description and files of Arrow. Several splits have a folder each,
// beside a list of them.
const (
	datasetInfo   = "dataset_info.json"
	datasetSplits = "dataset_dict.json"
)

// folderFiles returns the files of a folder that a role's flag or a user names: those of a dataset.
func folderFiles(r Role, folder string) ([]string, error) {
	if is, err := exists(filepath.Join(folder, captureInfo)); err != nil || is {
		if err == nil {
			err = misnamed("%s: %s is a capture, which is named alone; name shards of it for this role, such as '%s'", r, folder, filepath.Join(folder, "features", "*.npy"))
		}
		return nil, err
	}
	if is, err := exists(filepath.Join(folder, datasetSplits)); err != nil || is {
		if err == nil {
			err = misnamed("%s holds the splits of a dataset; name one of its folders, such as %s", folder, filepath.Join(folder, "train"))
		}
		return nil, err
	}
	if is, err := exists(filepath.Join(folder, datasetInfo)); err != nil || !is {
		return nil, cmp.Or(err, unreadFolder(folder))
	}
	names, err := namesIn(folder)
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) != ".arrow" })
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has %s and no .arrow file; write the dataset anew with save_to_disk", folder, datasetInfo)
	}
	for i, name := range out {
		out[i] = filepath.Join(folder, name)
	}
	return out, nil
}

// unreadFolder says of a folder that is neither a capture nor a dataset what it holds, and how to name that.
func unreadFolder(folder string) error {
	why := fmt.Sprintf("%s: a folder is read if the Python package collapse wrote it (this one has no %s; a capture that did not end has none), or save_to_disk of datasets", folder, captureInfo)
	names, err := namesIn(folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		if ending := filepath.Ext(name); slices.Contains(arrayfile.Endings(), ending) {
			return misnamed("%s; it holds %s: name files of it, such as '%s'", why, listed(names), filepath.Join(folder, "*"+ending))
		}
	}
	if len(names) == 0 {
		return misnamed("%s; it holds no file", why)
	}
	return misnamed("%s; it holds %s, none of which is read", why, listed(names))
}

// listed names a few files.
func listed(names []string) string {
	const few = 4
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// namesIn lists what is in a folder, numbers by their value.
func namesIn(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.SortFunc(names, natural)
	return names, err
}

// isFolder reports whether a path is that of a folder; what cannot be looked at is none, and opening it says why.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
