package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKindsOfClaimsAreWhole: each says where its effect lies, in numbers and in words, by its band if it asks for one, and the docs name it.
func TestKindsOfClaimsAreWhole(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "internal", "claims.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := ""
	for line := range strings.Lines(string(docs)) {
		if strings.HasPrefix(line, "| `kind` |") {
			row = line
		}
	}
	for _, k := range claimKinds {
		if k.region == nil {
			t.Errorf("%s: no region", k.name)
			continue
		}
		if here, there := k.region(0, -1, 1), k.region(0, -2, 3); here.Lo == here.Hi || (here != there) != k.banded {
			t.Errorf("%s: banded %v, but its region is %+v with one band and %+v with another", k.name, k.banded, here, there)
		}
		if k.sides[0] == "" || k.sides[1] == "" || k.sides[0] == k.sides[1] {
			t.Errorf("%s: its sides in words are %q", k.name, k.sides)
		}
		if !strings.Contains(row, "`"+k.name+"`") {
			t.Errorf("docs/internal/claims.md needs `%s` in the row of `kind`: %s", k.name, row)
		}
	}
}
