// Package recipes holds every figure, table and theorem of the papers as one TOML file each: the
// paper's setting, what it shows, and which values are ours.
package recipes

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"strings"
	"sync"
)

//go:generate go run ./gen

// packed are the files of this folder as gen packs them; a test checks that they are the same.
//
//go:embed recipes.zip
var packed string

// Files are the recipe files, named <id>.toml.
var Files = sync.OnceValue(func() fs.FS {
	files, err := zip.NewReader(strings.NewReader(packed), int64(len(packed)))
	if err != nil {
		panic("recipes: the embedded files are damaged: " + err.Error())
	}
	return files
})
