// Package archtest checks that the arrows between packages point the way docs/internal/architecture.md
// draws them, and writes its table of packages.
package archtest

import (
	"flag"
	"fmt"
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
	"./internal/kernel/isa":         {},
	"./internal/kernel/memory":      {"./internal/kernel/isa"},
	"./internal/kernel":             {},
	"./internal/kernel/gemm":        {"./internal/kernel", "./internal/kernel/isa", "./internal/kernel/memory", "./parallel"},
	"./internal/kernel/rows":        {"./internal/kernel", "./internal/kernel/isa"},
	"./internal/kernel/elementwise": {"./internal/kernel", "./internal/kernel/isa", "./parallel"},
	"./internal/kernel/conv":        {"./internal/kernel", "./internal/kernel/elementwise", "./internal/kernel/isa", "./internal/kernel/memory", "./parallel"},

	"./measure/internal/vec": {"./internal/kernel", "./internal/kernel/isa", "./internal/kernel/rows"},
	"./arrayfile":            {"./internal/inputfile"},
	"./internal/jail":        {"./internal/inputfile"},
	"./internal/rundir":      {"./arrayfile", "./internal/inputfile", "./internal/jail"},
	"./internal/store":       {"./internal/descriptors", "./internal/inputfile", "./internal/jail", "./internal/spelling"},
	"./internal/queue":       {"./internal/descriptors", "./internal/inputfile", "./internal/jail"},
	"./internal/chart":       {"./internal/format", "./internal/safetext", "./internal/zipped"},
	"./internal/format":      {},

	"./internal/judge/inference": {},

	"./internal/descriptors":               {},
	"./internal/inputfile":                 {},
	"./internal/mutants":                   {"./internal/process"},
	"./internal/outfile":                   {},
	"./internal/process":                   {},
	"./internal/safetext":                  {},
	"./internal/classcounts":               {},
	"./internal/descent":                   {},
	"./internal/kinds":                     {},
	"./internal/unknownkeys":               {"./internal/spelling"},
	"./nn/param":                           {"./internal/kernel"},
	"./internal/hull":                      {},
	"./internal/sampling":                  {},
	"./internal/screen":                    {},
	"./internal/featurefiles/decisiontest": {},
	"./internal/screen/screentest":         {},
	"./internal/search":                    {},
	"./internal/spectrum":                  {},
	"./internal/spelling":                  {},
	"./internal/tensorboard":               {},
	"./internal/wheel":                     {"./internal/inputfile"},
	"./internal/zipped":                    {},
	"./internal/zipped/gen":                {"./internal/zipped"},
	"./python":                             {"./internal/zipped"},
	"./internal/engine":                    {"./arrayfile", "./internal/inputfile"},
	"./measure/internal/dd":                {},
	"./parallel":                           {},
}

// forbidden lists, for each package, what it must not import, directly or through others.
// A trailing "…" stands for everything below.
var forbidden = map[string][]string{
	"./nn":                   {"./measure", "./data", "./internal/train", "./internal/store", "./ufm"},
	"./optim":                {"./nn", "./measure", "./data", "./internal/train", "./internal/store", "./ufm"},
	"./data":                 {"./measure", "./nn", "./internal/train", "./internal/store"},
	"./measure":              {"./nn", "./optim", "./data", "./arrayfile", "./internal/train", "./internal/store", "net/http", "gonum.org/v1/gonum/mat"}, // mat: 200 kB of every program
	"./measure/shards":       {"./nn", "./optim", "./data", "./internal/train", "./internal/store"},
	"./internal/pointfile":   {"./nn", "./data", "./internal/train", "./internal/store"},
	"./measure/measuretest":  {"./measure", "./internal/kernel…"}, // the oracle shares nothing with what it judges
	"./internal/reporttest":  {"./nn", "./data", "./internal/train", "./internal/store"},
	"./etf":                  {"./nn", "./optim", "./internal/train", "./internal/store"},
	"./ufm":                  {"./nn", "./arrayfile", "./data", "./internal/train", "./internal/store", "net/http"},
	"./dilation":             {"./nn", "./data", "./internal/train", "./internal/store"},
	"./imbalance":            {"./ufm", "./nn", "./data", "./internal/train", "./internal/store"},
	"./sphere":               {"./ufm", "./nn", "./data", "./internal/train", "./internal/store"},
	"./deep":                 {"./nn", "./data", "./internal/train", "./internal/store"},
	"./landscape":            {"./nn", "./data", "./internal/train", "./internal/store"},
	"./internal/train":       {"./internal/judge", "./internal/figure", "./internal/page", "./internal/study…", "./internal/cli"},
	"./internal/script":      {"./internal/judge", "./internal/measurement", "./internal/figure", "./internal/page", "./internal/upkeep", "./internal/study…", "./internal/cli"},
	"./internal/judge":       {"./internal/measurement", "./internal/figure", "./internal/page", "./internal/chart", "./internal/recipe", "./internal/study…", "./internal/queue", "./internal/cli", "html/template"},
	"./internal/measurement": {"./internal/judge", "./internal/figure", "./internal/page", "./internal/chart", "./internal/store", "./nn", "./internal/train", "./internal/cli", "html/template"},
	"./internal/question":    {"./internal/page", "./internal/serve", "./internal/recipe", "./internal/study…", "./internal/queue", "./internal/cli", "html/template"},
	"./internal/figure":      {"./internal/page", "./internal/serve", "./internal/recipe", "./internal/study…", "./internal/queue", "./internal/cli", "html/template"},
	"./internal/findings":    {"./internal/page", "./internal/serve", "./internal/theoryrun", "./internal/study…", "./internal/queue", "./internal/cli", "html/template"},
	"./internal/reproduce":   {"./internal/page", "./internal/serve", "./internal/study/worker", "./internal/cli", "html/template"},
	"./internal/page":        {"./internal/serve", "./internal/theoryrun", "./internal/study…", "./internal/queue", "./internal/cli"},
	"./internal/study":       {"./internal/study/…", "./internal/demo", "./internal/bench…", "./internal/cli", "./internal/judge", "./internal/figure", "./internal/page"},
	"./internal/demo":        {"./internal/study…", "./internal/queue", "./internal/cli", "./internal/judge", "./internal/figure", "./internal/page"},
	"./internal/parity":      {"./internal/study…", "./internal/queue", "./internal/cli"},
	"./internal/bench":       {"./internal/study…", "./internal/store", "./internal/queue", "./internal/cli"},
	"./internal/bench/load":  {"./internal/study/worker", "./internal/study/trials", "./internal/cli"},
	"./internal/recipe":      {"./internal/page", "./internal/theoryrun", "./internal/cli", "./internal/study…", "./internal/queue"},
	"./internal/theoryfig":   {"./recipes", "./internal/recipe", "./internal/judge", "./internal/figure", "./internal/page", "./internal/store", "./internal/train"},
	"./internal/theoryrun":   {"./internal/page", "./internal/study…", "./internal/queue", "./internal/serve", "./internal/cli"},
	"./internal/results":     {"./internal/page", "./internal/figure", "./internal/study…", "./internal/queue", "./internal/serve", "./internal/cli", "html/template"},
	"./internal/scale":       {"./internal/page", "./internal/theoryrun", "./internal/serve", "./internal/study/worker", "./internal/cli", "html/template"},
	"./internal/upkeep":      {"./internal/cli", "./internal/study…", "./internal/queue", "./internal/judge", "./internal/figure", "./internal/page"},
	"./internal/release":     {"./internal/cli", "./internal/store", "./internal/train", "./measure", "./nn", "./data"},
	"./internal/serve":       {"./internal/cli", "./internal/study…", "./internal/queue"},

	"./internal/study/wire":        {"./internal/study/coordinator", "./internal/study/worker", "./internal/study/trials", "./internal/cli"},
	"./internal/study/coordinator": {"./internal/study/worker", "./internal/study/trials", "./internal/study/export", "./internal/study/forecast", "./internal/bench…", "./internal/cli", "./internal/judge", "./internal/figure", "./internal/page"},
	"./internal/study/worker":      {"./internal/study/coordinator", "./internal/study/trials", "./internal/study/export", "./internal/study/forecast", "./internal/bench…", "./internal/cli", "./internal/judge", "./internal/figure", "./internal/page"},
	"./internal/study/studytest":   {"./internal/study/coordinator", "./internal/study/worker", "./internal/study/trials", "./internal/cli"}, // tests of all these use it
	"./internal/study/trials":      {"./internal/study/worker", "./internal/bench…", "./internal/cli", "./internal/figure", "./internal/page"},
	"./internal/study/export":      {"./internal/study/wire", "./internal/study/coordinator", "./internal/study/worker", "./internal/study/trials", "./internal/cli"},
	"./internal/study/forecast":    {"./internal/study/wire", "./internal/study/coordinator", "./internal/study/worker", "./internal/study/trials", "./internal/cli"},

	"./internal/featurefiles": {"./nn", "./data", "./internal/train", "./internal/store", "./internal/judge", "./internal/figure", "./internal/page", "./internal/cli"},
	"./measure/internal/wide": {"./measure", "./arrayfile", "./nn", "./internal/train", "./internal/store"},
}

func TestArrowsPointDown(t *testing.T) {
	for pkg, deps := range graph(t) {
		may, bounded := only[pkg]
		for _, dep := range deps {
			if bounded && strings.HasPrefix(dep, "./") && !slices.Contains(may, dep) {
				t.Errorf("%s imports %s, and may import %v alone", pkg, dep, may)
			}
			if slices.ContainsFunc(forbidden[pkg], func(rule string) bool { return matches(rule, dep) }) {
				t.Errorf("%s imports %s, which it must not", pkg, dep)
			}
		}
	}
}

// graph is each package of the module with all that it imports, also through others. The module itself is ".", whatever its path.
func graph(t *testing.T) map[string][]string {
	t.Helper()
	module := goList(t, "-m")
	packages := goList(t, "-f", "{{.ImportPath}}\t{{join .Deps \" \"}}", "./...")
	all := map[string][]string{}
	for line := range strings.Lines(packages) {
		var names []string
		for _, name := range strings.Fields(line) {
			if rest, ours := strings.CutPrefix(name, module+"/"); ours {
				name = "./" + rest
			}
			names = append(names, name)
		}
		all[names[0]] = names[1:]
	}
	return all
}

func goList(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// noRow are packages that stand in no table: what builds the program or its parts, and help for tests.
var noRow = regexp.MustCompile(`^\./(cmd/.*|recipes(/gen)?|internal/(archtest|faulttest|longtest|powercut|version|licenses(/gen)?|chart/gen|kernel/(.*/)?asm(/neon)?|.*/(judge|kernel|measurement|tensorboard)test))$`)

var update = flag.Bool("update", false, "write the table of packages in docs/internal/architecture.md anew")

// TestTableOfPackages: each package has a row in docs/internal/architecture.md, with what the rules above say that it must not import, and one
// rule. What it knows is written by hand.
func TestTableOfPackages(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "internal", "architecture.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	packages, rows, now := graph(t), map[string]bool{}, string(text)
	for line := range strings.Lines(section(now, "## Packages")) {
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		pkg := "./" + m[1]
		if _, there := packages[pkg]; !there {
			t.Errorf("%s is not a package any more", pkg)
		}
		rows[pkg] = true
		now = strings.Replace(now, line, fmt.Sprintf("| `%s` | %s | %s |\n", m[1], m[2], mustNotImport(pkg)), 1)
	}
	if *update && now != string(text) {
		if err := os.WriteFile(path, []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if now != string(text) {
		t.Error("the table does not say what the rules say; go test ./internal/archtest -run TableOfPackages -update writes it anew")
	}
	for pkg := range packages {
		_, bounded := only[pkg]
		_, ruled := forbidden[pkg]
		switch {
		case noRow.MatchString(pkg):
		case !rows[pkg]:
			t.Errorf("%s has no row in docs/internal/architecture.md; write one with what it knows: | `%s` | … | |", pkg, strings.TrimPrefix(pkg, "./"))
		case bounded == ruled && pkg != "./internal/cli": // which may import all
			t.Errorf("%s needs one rule of this test, of what it may import or of what it must not", pkg)
		}
	}
	for _, named := range []iter.Seq[string]{maps.Keys(only), maps.Keys(forbidden)} {
		for pkg := range named {
			if _, there := packages[pkg]; !there {
				t.Errorf("%s has a rule and is not a package any more", pkg)
			}
		}
	}
}

// row is one of the table of packages: a package, what it knows, what it must not import.
var row = regexp.MustCompile("^\\| `([^`]+)` \\| (.*?) \\|([^|]*)\\|\n$")

// mustNotImport puts the rule of a package in words.
func mustNotImport(pkg string) string {
	names := func(rules []string) string {
		var out []string
		for _, rule := range rules {
			name, below := strings.CutSuffix(strings.TrimPrefix(rule, "./"), "…")
			if name = "`" + strings.TrimSuffix(name, "/") + "`"; below {
				name += " and below"
			}
			out = append(out, name)
		}
		return strings.Join(out, ", ")
	}
	may, bounded := only[pkg]
	switch {
	case bounded && len(may) == 0:
		return "anything of ours"
	case bounded:
		return "anything of ours but " + names(may)
	case len(forbidden[pkg]) == 0:
		return "—"
	}
	return names(forbidden[pkg])
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
