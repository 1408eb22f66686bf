package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// ofTexts are maps by measure whose zero value says that there is nothing: a text, a list.
var ofTexts = map[string]bool{"Missing": true, "Reason": true, "Histograms": true, "PerClass": true}

// TestMeasuresAreAskedFor: outside package measure a number of a measure comes with whether there is one, since a map gives zero for what was not
// measured: no field Measures is a map, and a map is read at a key of package measure only with ok.
func TestMeasuresAreAskedFor(t *testing.T) {
	files, read := 0, 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") && e.Name() != ".." || rel == "measure" || rel == "examples") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range unasked(file, &read) {
			t.Errorf("%s:%d: a map gives 0 for what was not measured: ask with ok, or use measure.Values", rel, set.Position(at).Line)
		}
		return nil
	})
	if err != nil || files < 500 || read < 5 {
		t.Fatalf("%d files and %d maps were looked at: %v", files, read, err)
	}
}

// unasked returns where a file has a map of measures as a field, or reads a map at a measure's key without asking whether there is a value; read
// counts the reads that ask.
func unasked(file *ast.File, read *int) (at []token.Pos) {
	fine := map[ast.Expr]bool{} // written, or read with ok
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				fine[x] = true
			}
			if len(n.Lhs) == 2 && len(n.Rhs) == 1 {
				fine[n.Rhs[0]] = true
				if x, is := n.Rhs[0].(*ast.IndexExpr); is && byMeasure(x) {
					*read++
				}
			}
		case *ast.Field:
			if _, is := n.Type.(*ast.MapType); is && len(n.Names) == 1 && (n.Names[0].Name == "Measures" || n.Names[0].Name == "NonnegReport") {
				at = append(at, n.Pos())
			}
		case *ast.IndexExpr:
			if byMeasure(n) && !fine[n] {
				at = append(at, n.Pos())
			}
		}
		return true
	})
	return at
}

// byMeasure reports whether an index holds a key of package measure, into a map of numbers.
func byMeasure(x *ast.IndexExpr) (is bool) {
	if of, field := x.X.(*ast.SelectorExpr); field && ofTexts[of.Sel.Name] {
		return false
	}
	ast.Inspect(x.Index, func(n ast.Node) bool {
		s, of := n.(*ast.SelectorExpr)
		if !of {
			return true
		}
		from, named := s.X.(*ast.Ident)
		is = is || named && from.Name == "measure" && strings.HasPrefix(s.Sel.Name, "Key")
		return true
	})
	return is
}
