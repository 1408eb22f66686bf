// Package licenses holds the licence of every module that is compiled into the program.
package licenses

import (
	_ "embed"

	"collapse.example/collapse/internal/zipped"
)

//go:generate go run ./gen

// packed is made by gen from the modules that cmd/collapse links, and a test checks that none is missing.
//
//go:embed licenses.txt.br
var packed []byte

// Text is the licences of the program and of everything in it, one section per module.
func Text() string { return string(zipped.FromBrotli(packed)) }
