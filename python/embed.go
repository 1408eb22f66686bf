// Package python holds the sources of the Python package collapse that the program starts itself: collapse.engine, which computes runs
// in PyTorch. They are compiled in, so that an engine is always of the program's own version.
package python

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"

	"collapse.example/collapse/internal/zipped"
)

//go:generate go run ../internal/zipped/gen engine.zip.br collapse/__init__.py collapse/engine/*.py

// packed are the files of this folder; a test checks that they are the same.
//
//go:embed engine.zip.br
var packed []byte

// Files is the tree that Python's path must have: collapse/__init__.py and collapse/engine.
var Files = sync.OnceValue(func() fs.FS { return zipped.Files(packed) })

// Version is a digest of Files, 16 hexadecimal digits. An engine says the same of the files that it runs from; see version in
// collapse/engine/engine.py.
func Version() string {
	sum := sha256.New()
	for _, pattern := range []string{"collapse/__init__.py", "collapse/engine/*.py"} {
		names, err := fs.Glob(Files(), pattern) // sorted
		if err != nil {
			panic("python: " + err.Error())
		}
		for _, name := range names {
			text, err := fs.ReadFile(Files(), name)
			if err != nil {
				panic("python: an embedded file cannot be read: " + err.Error())
			}
			fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}
