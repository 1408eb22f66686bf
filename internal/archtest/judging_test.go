package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// judging are the functions and types of internal/judge that compute statistics or verdicts.
var judging = []string{"Experiments", "Finished", "JudgeRun", "Questions", "Headline", "Mean", "Deviation", "MeanDeviation", "OnCurve", "Levels", "LeaveOut", "MarginCurve"}

// TestPagesJudgeNothing: what prints pages computes no statistics and no verdicts; it asks internal/findings, and internal/page not even that.
func TestPagesJudgeNothing(t *testing.T) {
	for pkg, banned := range map[string]map[string][]string{
		"page":  {"judge": judging, "inference": nil, "findings": {"Judge", "Count", "OfRecipe", "MeanAt"}},
		"serve": {"judge": judging, "inference": nil},
	} {
		used := 0
		for of, name := range selected(t, filepath.Join("..", pkg)) {
			if of == "judge" {
				used++
			}
			if names, some := banned[of]; some && (names == nil || slices.Contains(names, name)) {
				t.Errorf("internal/%s uses %s.%s", pkg, of, name)
			}
		}
		if used < 10 {
			t.Errorf("internal/%s names %d things of judge: is it read?", pkg, used)
		}
	}
	exported := declared(t, filepath.Join("..", "judge"))
	for _, name := range judging {
		if !exported[name] {
			t.Errorf("judge.%s is not there any more", name)
		}
	}
}

// selected are the names that the sources of a folder, tests apart, select of each imported package.
func selected(t *testing.T, dir string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, f := range sources(t, dir) {
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if of, ok := s.X.(*ast.Ident); ok && !yield(of.Name, s.Sel.Name) {
						return false
					}
				}
				return true
			})
		}
	}
}

// declared are the functions and types that a folder declares.
func declared(t *testing.T, dir string) map[string]bool {
	out := map[string]bool{}
	for _, f := range sources(t, dir) {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				out[d.Name.Name] = out[d.Name.Name] || d.Recv == nil
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						out[s.Name.Name] = true
					}
				}
			}
		}
	}
	return out
}

func sources(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}
