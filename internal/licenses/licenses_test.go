package licenses

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Every module that the program links on this platform, or whose fonts it holds, has a section with its version.
func TestEveryLinkedModuleIsListed(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "collapse.example/collapse/cmd/collapse", "collapse.example/collapse/internal/chart/gen").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	modules := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(modules)
	modules = slices.Compact(modules)
	if len(modules) < 5 {
		t.Fatalf("go list names %d modules, which can not be all", len(modules))
	}
	text := Text()
	for _, m := range modules {
		if !strings.Contains(text, "\n"+m+": ") {
			t.Errorf("%s has no section in licenses.txt.br; run go generate ./internal/licenses", m)
		}
	}
}
