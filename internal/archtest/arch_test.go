// Package archtest checks that the arrows between packages point the way docs/architecture.md
// draws them.
package archtest

import (
	"os/exec"
	"strings"
	"testing"
)

// forbidden lists, for each package, what it must not import, directly or through others.
// A trailing "…" stands for everything below.
var forbidden = map[string][]string{
	"collapse/parallel":             {"collapse…"},
	"collapse/internal/kernel":      {"collapse/arrayfile", "collapse/data", "collapse/nn", "collapse/optim", "collapse/train", "collapse/measure", "collapse/etf", "collapse/ufm", "collapse/internal/store"},
	"collapse/arrayfile":            {"collapse/data", "collapse/nn", "collapse/train", "collapse/measure", "collapse/internal/store"},
	"collapse/nn":                   {"collapse/measure", "collapse/data", "collapse/train", "collapse/internal/store", "collapse/ufm"},
	"collapse/optim":                {"collapse/measure", "collapse/data", "collapse/train", "collapse/internal/store", "collapse/ufm"},
	"collapse/data":                 {"collapse/measure", "collapse/nn", "collapse/train", "collapse/internal/store"},
	"collapse/measure":              {"collapse/nn", "collapse/optim", "collapse/data", "collapse/train", "collapse/internal/store"},
	"collapse/measure/measuretest":  {"collapse/measure", "collapse/internal/kernel"}, // the oracle shares nothing with what it judges
	"collapse/etf":                  {"collapse/nn", "collapse/optim", "collapse/train", "collapse/internal/store"},
	"collapse/ufm":                  {"collapse/data", "collapse/train", "collapse/internal/store"},
	"collapse/dilation":             {"collapse/nn", "collapse/data", "collapse/train", "collapse/internal/store"},
	"collapse/landscape":            {"collapse/nn", "collapse/data", "collapse/train", "collapse/internal/store"},
	"collapse/internal/rundir":      {"collapse/data", "collapse/nn", "collapse/optim", "collapse/train", "collapse/measure", "collapse/internal/store", "collapse/internal/judge", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/upkeep", "collapse/internal/outfile", "collapse/internal/cli"},
	"collapse/internal/store":       {"collapse/nn", "collapse/data", "collapse/train", "collapse/measure", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/train":                {"collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/study…", "collapse/internal/cli"},
	"collapse/internal/chart":       {"collapse/nn", "collapse/data", "collapse/train", "collapse/measure", "collapse/internal/store", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/format":      {"collapse…"},
	"collapse/internal/judge":       {"collapse/internal/measurement", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/chart", "collapse/internal/recipe", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/cli", "html/template"},
	"collapse/internal/measurement": {"collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/chart", "collapse/internal/store", "collapse/nn", "collapse/train", "collapse/internal/cli", "html/template"},
	"collapse/internal/figure":      {"collapse/internal/page", "collapse/internal/serve", "collapse/internal/recipe", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/cli", "html/template"},
	"collapse/internal/page":        {"collapse/internal/serve", "collapse/internal/theoryrun", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/cli"},
	"collapse/internal/study":       {"collapse/internal/study/…", "collapse/internal/demo", "collapse/internal/bench…", "collapse/internal/cli", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/demo":        {"collapse/internal/study…", "collapse/internal/queue", "collapse/internal/cli", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/bench":       {"collapse/internal/study…", "collapse/internal/store", "collapse/internal/queue", "collapse/internal/cli"},
	"collapse/internal/bench/load":  {"collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/cli"},
	"collapse/internal/queue":       {"collapse/train", "collapse/internal/store", "collapse/measure", "collapse/nn"},
	"collapse/internal/search":      {"collapse…"},
	"collapse/internal/inputfile":   {"collapse…"},
	"collapse/internal/tensorboard": {"collapse…"},
	"collapse/internal/outfile":     {"collapse…"},
	"collapse/internal/sampling":    {"collapse…"},
	"collapse/internal/safetext":    {"collapse…"},
	"collapse/internal/spelling":    {"collapse…"},
	"collapse/internal/zipped":      {"collapse…"},
	"collapse/internal/recipe":      {"collapse/internal/page", "collapse/internal/theoryrun", "collapse/internal/cli", "collapse/internal/study…", "collapse/internal/queue"},
	"collapse/internal/theoryfig":   {"collapse/recipes", "collapse/internal/recipe", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/store", "collapse/train"},
	"collapse/internal/theoryrun":   {"collapse/internal/page", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/serve", "collapse/internal/cli"},
	"collapse/internal/upkeep":      {"collapse/internal/cli", "collapse/internal/study…", "collapse/internal/queue", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/serve":       {"collapse/internal/cli", "collapse/internal/study…", "collapse/internal/queue"},

	"collapse/internal/study/wire":      {"collapse/internal/study/engine", "collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/cli"},
	"collapse/internal/study/engine":    {"collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/study/export", "collapse/internal/study/forecast", "collapse/internal/bench…", "collapse/internal/cli", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/study/worker":    {"collapse/internal/study/engine", "collapse/internal/study/trials", "collapse/internal/study/export", "collapse/internal/study/forecast", "collapse/internal/bench…", "collapse/internal/cli", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/study/studytest": {"collapse/internal/study/engine", "collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/cli"}, // tests of all these use it
	"collapse/internal/study/trials":    {"collapse/internal/study/worker", "collapse/internal/bench…", "collapse/internal/cli", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page"},
	"collapse/internal/study/export":    {"collapse/internal/study/wire", "collapse/internal/study/engine", "collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/cli"},
	"collapse/internal/study/forecast":  {"collapse/internal/study/wire", "collapse/internal/study/engine", "collapse/internal/study/worker", "collapse/internal/study/trials", "collapse/internal/cli"},

	"collapse/internal/featurefiles": {"collapse/nn", "collapse/data", "collapse/train", "collapse/internal/store", "collapse/internal/judge", "collapse/internal/figure", "collapse/internal/page", "collapse/internal/cli"},
	"collapse/measure/internal/dd":   {"collapse…"},
	"collapse/measure/internal/vec":  {"collapse/measure", "collapse/measure/internal/wide", "collapse/arrayfile"},
	"collapse/measure/internal/wide": {"collapse/measure", "collapse/arrayfile", "collapse/nn", "collapse/train", "collapse/internal/store"},
}

func TestArrowsPointDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}\t{{join .Deps \" \"}}", "collapse/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	checked := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		pkg, deps, _ := strings.Cut(line, "\t")
		for _, rule := range forbidden[pkg] {
			checked++
			for _, dep := range strings.Fields(deps) {
				if matches(rule, dep) {
					t.Errorf("%s imports %s, which docs/architecture.md forbids", pkg, dep)
				}
			}
		}
	}
	if checked < 30 {
		t.Fatalf("only %d rules met a package: the names in this test are out of date", checked)
	}
}

func matches(rule, pkg string) bool {
	if prefix, ok := strings.CutSuffix(rule, "…"); ok {
		return pkg == strings.TrimSuffix(prefix, "/") || strings.HasPrefix(pkg, strings.TrimSuffix(prefix, "/")+"/")
	}
	return rule == pkg
}
