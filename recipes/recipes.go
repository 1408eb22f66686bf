// Package recipes holds every figure, table and theorem of the papers as one TOML file each: the
// paper's setting, what it shows, and which values are ours.
package recipes

import (
	_ "embed"
	"io/fs"
	"sync"

	"collapse.example/collapse/internal/zipped"
)

//go:generate go run ../internal/zipped/gen recipes.zip.br *.toml

// packed are the files of this folder; a test checks that they are the same.
//
//go:embed recipes.zip.br
var packed []byte

// Files are the recipe files, named <id>.toml.
var Files = sync.OnceValue(func() fs.FS { return zipped.Files(packed) })
