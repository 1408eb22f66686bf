package results

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// The shortened result of md-fig1 at scale standard. TestShippedIsTheResult -update makes it anew.
//
//go:embed shipped.json
var shipped []byte

// Shipped is the result of Nguyen et al. 2023, Fig. 1, at scale standard as the program carries it: short of docs/results/standard.
func Shipped() (r Recipe, err error) {
	if err = json.Unmarshal(shipped, &r); err != nil {
		err = fmt.Errorf("results: the program's own: %w", err)
	}
	return r, err
}
