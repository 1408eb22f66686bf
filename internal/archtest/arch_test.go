// Package archtest checks that the arrows between packages point the way docs/internal/architecture.md
// draws them.
package archtest

import (
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// only lists the packages that may import nothing of ours but what stands beside them, directly or through others.
var only = map[string][]string{
	"collapse/internal/kernel/isa":         {},
	"collapse/internal/kernel/memory":      {"collapse/internal/kernel/isa"},
	"collapse/internal/kernel":             {},
	"collapse/internal/kernel/gemm":        {"collapse/internal/kernel", "collapse/internal/kernel/isa", "collapse/internal/kernel/memory", "collapse/parallel"},
	"collapse/internal/kernel/rows":        {"collapse/internal/kernel", "collapse/internal/kernel/isa"},
	"collapse/internal/kernel/elementwise": {"collapse/internal/kernel", "collapse/internal/kernel/isa", "collapse/parallel"},
	"collapse/internal/kernel/conv":        {"collapse/internal/kernel", "collapse/internal/kernel/elementwise", "collapse/internal/kernel/isa", "collapse/internal/kernel/memory", "collapse/parallel"},

	"collapse/measure/internal/vec": {"collapse/internal/kernel", "collapse/internal/kernel/isa", "collapse/internal/kernel/rows"},
	"collapse/arrayfile":            {"collapse/internal/inputfile"},
	"collapse/internal/jail":        {"collapse/internal/inputfile"},
	"collapse/internal/rundir":      {"collapse/arrayfile", "collapse/internal/inputfile", "collapse/internal/jail"},
	"collapse/internal/store":       {"collapse/internal/descriptors", "collapse/internal/inputfile", "collapse/internal/jail"},
	"collapse/internal/queue":       {"collapse/internal/descriptors", "collapse/internal/inputfile", "collapse/internal/jail"},
	"collapse/internal/chart":       {"collapse/internal/format", "collapse/internal/safetext", "collapse/internal/zipped"},
	"collapse/internal/format":      {},

	"collapse/internal/judge/inference": {},

	"collapse/internal/descriptors": {},
	"collapse/internal/inputfile":   {},
	"collapse/internal/outfile":     {},
	"collapse/internal/process":     {},
	"collapse/internal/safetext":    {},
	"collapse/internal/classcounts": {},
	"collapse/internal/descent":     {},
	"collapse/internal/hull":        {},
	"collapse/internal/sampling":    {},
	"collapse/internal/screen":      {},
	"collapse/internal/search":      {},
	"collapse/internal/spectrum":    {},
	"collapse/internal/spelling":    {},
	"collapse/internal/tensorboard": {},
	"collapse/internal/wheel":       {"collapse/internal/inputfile"},
	"collapse/internal/zipped":      {},
	"collapse/python":               {},
	"collapse/internal/engine":      {"collapse/arrayfile", "collapse/internal/inputfile"},
	"collapse/measure/internal/dd":  {},
	"collapse/parallel":             {},
}

// forbidden lists, for each package, what it must not import, directly or through others.
// A trailing "…" stands for everything below.
var forbidden = map[string][]string{
	"collapse/nn":                   {"collapse/measure", "collapse/data", "collapse/internal/train", "collapse/internal/store", "collapse/ufm"},
	"collapse/optim":                {"collapse/measure", "collapse/data", "collapse/internal/train", "collapse/internal/store", "collapse/ufm"},
	"collapse/data":                 {"collapse/measure", "collapse/nn", "collapse/internal/train", "collapse/internal/store"},
	"collapse/measure":              {"collapse/nn", "collapse/optim", "collapse/data", "collapse/internal/train", "collapse/internal/store"},
	"collapse/measure/measuretest":  {"collapse/measure", "collapse/internal/kernel…"}, // the oracle shares nothing with what it judges
	"collapse/internal/reporttest":  {"collapse/nn", "collapse/data", "collapse/internal/train", "collapse/internal/store"},
	"collapse/etf":                  {"collapse/nn", "collapse/optim", "collapse/internal/train", "collapse/internal/store"},
	"collapse/ufm":                  {"collapse/data", "collapse/internal/train", "collapse/internal/store"},
	"collapse/dilation":             {"collapse/nn", "collapse/data", "collapse/internal/train", "collapse/internal/store"},
	"collapse/imbalance":            {"collapse/ufm", "collapse/nn", "collapse/data", "collapse/internal/train", "collapse/internal/store"},
	"collapse/sphere":               {"collapse/ufm", "collapse/nn", "collapse/data", "collapse/internal/train", "collapse/internal/store"},
	"collapse/deep":                 {"collapse/nn", "collapse/data", "collapse/internal/train", "collapse/internal/store"},
	"collapse/landscape":            {"collapse/nn", "collapse/data", "collapse/internal/train", "collapse/internal/store"},
	"collapse/internal/train":       {"collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/study…", "collapse/internal/cli"},
	"collapse/internal/script":      {"collapse/internal/judge", "collapse/internal/measurement", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/upkeep", "collapse/internal/study…", "collapse/internal/cli"},
	"collapse/internal/judge":       {"collapse/internal/measurement", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/chart", "collapse/internal/recipe", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/cli", "html/template"},
	"collapse/internal/measurement": {"collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/chart", "collapse/internal/store", "collapse/nn", "collapse/internal/train", "collapse/internal/cli", "html/template"},
	"collapse/internal/figure":      {"collapse/internal/page", "collapse/internal/serve", "collapse/internal/recipe", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/cli", "html/template"},
	"collapse/internal/page":        {"collapse/internal/serve", "collapse/internal/theoryrun", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/cli"},
	"collapse/internal/study":       {"collapse/internal/study/…", "collapse/internal/demo", "collapse/internal/bench…", "collapse/internal/cli", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/demo":        {"collapse/internal/study…", "collapse/internal/queue", "collapse/internal/cli", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/parity":      {"collapse/internal/study…", "collapse/internal/queue", "collapse/internal/cli"},
	"collapse/internal/bench":       {"collapse/internal/study…", "collapse/internal/store", "collapse/internal/queue", "collapse/internal/cli"},
	"collapse/internal/bench/load":  {"collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/cli"},
	"collapse/internal/recipe":      {"collapse/internal/page", "collapse/internal/theoryrun", "collapse/internal/cli", "collapse/internal/study…", "collapse/internal/queue"},
	"collapse/internal/theoryfig":   {"collapse/recipes", "collapse/internal/recipe", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/store", "collapse/internal/train"},
	"collapse/internal/theoryrun":   {"collapse/internal/page", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/serve", "collapse/internal/cli"},
	"collapse/internal/results":     {"collapse/internal/page", "collapse/internal/figure", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/serve", "collapse/internal/cli", "html/template"},
	"collapse/internal/scale":       {"collapse/internal/page", "collapse/internal/theoryrun", "collapse/internal/serve", "collapse/internal/study/worker", "collapse/internal/cli", "html/template"},
	"collapse/internal/upkeep":      {"collapse/internal/cli", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/release":     {"collapse/internal/cli", "collapse/internal/store", "collapse/internal/train", "collapse/measure", "collapse/nn", "collapse/data"},
	"collapse/internal/serve":       {"collapse/internal/cli", "collapse/internal/study…", "collapse/internal/queue"},

	"collapse/internal/study/wire":      {"collapse/internal/study/engine", "collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/cli"},
	"collapse/internal/study/engine":    {"collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/study/export", "collapse/internal/study/forecast", "collapse/internal/bench…", "collapse/internal/cli", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/study/worker":    {"collapse/internal/study/engine", "collapse/internal/study/trials", "collapse/internal/study/export", "collapse/internal/study/forecast", "collapse/internal/bench…", "collapse/internal/cli", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/study/studytest": {"collapse/internal/study/engine", "collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/cli"}, // tests of all these use it
	"collapse/internal/study/trials":    {"collapse/internal/study/worker", "collapse/internal/bench…", "collapse/internal/cli", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/study/export":    {"collapse/internal/study/wire", "collapse/internal/study/engine", "collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/cli"},
	"collapse/internal/study/forecast":  {"collapse/internal/study/wire", "collapse/internal/study/engine", "collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/cli"},

	"collapse/internal/featurefiles": {"collapse/nn", "collapse/data", "collapse/internal/train", "collapse/internal/store", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/cli"},
	"collapse/measure/internal/wide": {"collapse/measure", "collapse/arrayfile", "collapse/nn", "collapse/internal/train", "collapse/internal/store"},
}

func TestArrowsPointDown(t *testing.T) {
	for pkg, deps := range graph(t) {
		may, bounded := only[pkg]
		for _, dep := range deps {
			if bounded && strings.HasPrefix(dep, "collapse/") && !slices.Contains(may, dep) {
				t.Errorf("%s imports %s, and docs/internal/architecture.md allows %v alone", pkg, dep, may)
			}
			if slices.ContainsFunc(forbidden[pkg], func(rule string) bool { return matches(rule, dep) }) {
				t.Errorf("%s imports %s, which docs/internal/architecture.md forbids", pkg, dep)
			}
		}
	}
}

// graph is each package of the module with all that it imports, also through others.
func graph(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{join .Deps \" \"}}", "collapse/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		pkg, deps, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all[pkg] = strings.Fields(deps)
	}
	return all
}

// noRow are packages that stand in no table: what builds the program or its parts, and help for tests.
var noRow = regexp.MustCompile(`^collapse/(cmd/.*|recipes|internal/(archtest|faulttest|longtest|version|licenses(/gen)?|chart/gen|kernel/(.*/)?asm(/neon)?|.*/(judge|kernel|measurement|tensorboard)test))$`)

// TestEveryPackageHasARow compares the packages with the table of packages and with the rules above: a new one needs both.
func TestEveryPackageHasARow(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "internal", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(section(string(text), "## Packages")) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				rows["collapse/"+name[1]] = true
			}
		}
	}
	packages := graph(t)
	for pkg := range packages {
		_, bounded := only[pkg]
		_, ruled := forbidden[pkg]
		switch {
		case noRow.MatchString(pkg):
		case !rows[pkg]:
			t.Errorf("%s has no row in docs/internal/architecture.md", pkg)
		case bounded == ruled && pkg != "collapse/internal/cli": // which may import all
			t.Errorf("%s needs one rule of this test, of what it may import or of what it may not", pkg)
		}
	}
	for _, named := range []iter.Seq[string]{maps.Keys(rows), maps.Keys(only), maps.Keys(forbidden)} {
		for pkg := range named {
			if _, there := packages[pkg]; !there {
				t.Errorf("%s is not a package any more", pkg)
			}
		}
	}
}

// section is the part of a document below a heading, up to the next.
func section(text, heading string) string {
	_, part, _ := strings.Cut(text, heading+"\n")
	part, _, _ = strings.Cut(part, "\n## ")
	return part
}

func matches(rule, pkg string) bool {
	if prefix, ok := strings.CutSuffix(rule, "…"); ok {
		return pkg == strings.TrimSuffix(prefix, "/") || strings.HasPrefix(pkg, strings.TrimSuffix(prefix, "/")+"/")
	}
	return rule == pkg
}
