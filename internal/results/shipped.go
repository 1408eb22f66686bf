package results

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"

	"collapse.example/collapse/internal/zipped"
)

// The shortened result of md-fig1 at scale standard. TestShippedIsTheResult -update makes it anew.
//
//go:generate go run ../zipped/gen shipped.zip.br shipped.json
//go:embed shipped.zip.br
var packed []byte

// Shipped is the result of Nguyen et al. 2023, Fig. 1, at scale standard as the program carries it: short of docs/results/standard.
func Shipped() (r Recipe, err error) {
	text, err := fs.ReadFile(zipped.Files(packed), "shipped.json")
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		err = fmt.Errorf("results: the program's own: %w", err)
	}
	return r, err
}
