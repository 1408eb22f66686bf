package parity

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/python"
)

// TestTheEngineHasEveryKind: PyTorch's side has the networks, losses and optimisers that this side has, and no others. It reads the table of each.
func TestTheEngineHasEveryKind(t *testing.T) {
	for key, table := range map[string]struct{ file, name string }{
		"net.kind": {"nets.py", "NETWORKS"}, "loss.kind": {"losses.py", "LOSSES"}, "optim.kind": {"optimisers.py", "OPTIMISERS"},
	} {
		text, err := fs.ReadFile(python.Files(), "collapse/engine/"+table.file)
		if err != nil {
			t.Fatal(err)
		}
		body := regexp.MustCompile(`(?ms)^` + table.name + ` = \{(.*?)\}$`).FindSubmatch(text)
		if body == nil {
			t.Fatalf("%s has no table %s", table.file, table.name)
		}
		var has []string
		for _, found := range regexp.MustCompile(`(?:^|[{,\n])\s*"([^"]+)":`).FindAllSubmatch(body[1], -1) {
			has = append(has, string(found[1]))
		}
		for _, k := range train.Kinds(key) {
			if !slices.Contains(has, k.Name) {
				t.Errorf("%s = %s: python/collapse/engine/%s has none in %s, which has %q", key, k.Name, table.file, table.name, has)
			}
		}
		if len(has) != len(train.Kinds(key)) {
			t.Errorf("%s: %s has %q, which is not what the program has", key, table.name, has)
		}
	}
}
