// Package recipes holds every figure, table and theorem of the papers as one TOML file each: the
// paper's setting, what it shows, and which values are ours.
package recipes

import "embed"

// Files are the recipe files, named <id>.toml.
//
//go:embed *.toml
var Files embed.FS
