package script

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Copy is the folder with a copy of the code that a run had, as this machine keeps it for studies; "" if it has none. dir and config are the run's.
func Copy(dir string, config []byte) string {
	code, err := CodeOf(dir, config)
	if err != nil || len(code) == 0 {
		return ""
	}
	cache, err := keptCache()
	if err != nil {
		return ""
	}
	entries, _ := os.ReadDir(cache) // without the folder there are no copies
	spec := Spec{Code: code}
	for _, e := range entries {
		if folder := filepath.Join(cache, e.Name()); keptName.MatchString(e.Name()) && spec.checkCode(folder) == nil {
			return folder
		}
	}
	return ""
}

// CodeWords names the files of a run's code with the beginnings of their digests; "" if they are not known.
func CodeWords(dir string, config []byte) string {
	code, err := CodeOf(dir, config)
	if err != nil {
		return ""
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(code)) {
		words = append(words, name+" "+ShortDigest(code[name]))
	}
	return strings.Join(words, ", ")
}
