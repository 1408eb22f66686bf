package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// refusal is a place where a function makes an error: of a text, or of a type whose name ends in Error.
type refusal struct {
	file      string // below the checkout
	line, col int
	text      string
}

// refuse lists the refusals of packages that their own tests do not reach, and reports whether a package has more than the list allows.
func refuse(ctx context.Context, o options, known *known, packages []string, work string) (more bool, err error) {
	if len(packages) == 0 {
		packages = known.refusing
	}
	for _, pkg := range packages {
		pkg = filepath.ToSlash(filepath.Clean(pkg))
		all, err := refusals(o.root, pkg)
		if err != nil {
			return false, err
		}
		text, err := profile(ctx, o.root, pkg, work)
		if err != nil {
			return false, fmt.Errorf("the tests of %s: %w", pkg, err)
		}
		left := unreached(all, text)
		for _, r := range left {
			fmt.Printf("  %s:%d %.150s\n", r.file, r.line, r.text)
		}
		allowed, listed := known.refusals[pkg]
		fmt.Printf("%s: no test comes to %d of %d refusals", pkg, len(left), len(all))
		if listed && len(left) > allowed {
			fmt.Printf("; MORE THAN %d", allowed)
			more = true
		}
		fmt.Println()
	}
	return more, nil
}

// profile is what the tests of a package execute, those parts of them included that run as other processes, and as other users.
func profile(ctx context.Context, root, pkg, work string) (string, error) {
	work, err := os.MkdirTemp(work, "cover")
	if err != nil {
		return "", err
	}
	counts, binary, out := filepath.Join(work, "counts"), filepath.Join(work, "cover.test"), filepath.Join(work, "profile")
	err = os.Mkdir(counts, 0o777)
	for dir := range map[string]bool{filepath.Dir(work): true, work: true, counts: true} {
		err = errors.Join(err, os.Chmod(dir, 0o777))
	}
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-cover", "-o", binary, "./"+pkg)
	build.Dir = root
	test := exec.CommandContext(ctx, binary, "-test.coverprofile="+out, "-test.gocoverdir="+counts)
	test.Dir = filepath.Join(root, pkg)
	test.Env = append(os.Environ(), "GOCOVERDIR="+counts)
	for _, cmd := range []*exec.Cmd{build, test} {
		if words, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, words)
		}
	}
	text, err := os.ReadFile(out)
	return string(text), err
}

// refusals are those of a package as it is built here.
func refusals(root, pkg string) (all []refusal, err error) {
	p, err := build.ImportDir(filepath.Join(root, pkg), 0)
	if err != nil {
		return nil, err
	}
	for _, name := range p.GoFiles {
		file := pkg + "/" + name
		src, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, src, 0)
		if err != nil {
			return nil, err
		}
		s := source{fset, src}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if s.makesError(n) {
					at := fset.Position(n.Pos())
					all = append(all, refusal{file, at.Line, at.Column, oneLine(s.text(n))})
					return false
				}
				return true
			})
		}
	}
	return all, nil
}

func (s source) makesError(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		name := s.text(n.Fun)
		return name == "fmt.Errorf" || name == "errors.New"
	case *ast.CompositeLit:
		return n.Type != nil && strings.HasSuffix(s.text(n.Type), "Error")
	}
	return false
}

// block is a line of a coverage profile: "path/file.go:12.3,14.5 2 1".
var block = regexp.MustCompile(`(?m)^(\S+):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)

// unreached leaves those that lie in a block that was not executed. A block inside another, as of a function literal, decides.
func unreached(all []refusal, profile string) []refusal {
	type counted struct {
		from, to [2]int
		count    int
	}
	blocks := map[string][]counted{}
	for _, m := range block.FindAllStringSubmatch(profile, -1) {
		var n [5]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+2]) // digits
		}
		blocks[filepath.Base(m[1])] = append(blocks[filepath.Base(m[1])], counted{[2]int{n[0], n[1]}, [2]int{n[2], n[3]}, n[4]})
	}
	compare := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
	return slices.DeleteFunc(slices.Clone(all), func(r refusal) bool {
		at := [2]int{r.line, r.col}
		list := slices.DeleteFunc(slices.Clone(blocks[filepath.Base(r.file)]), func(b counted) bool { return compare(b.from, at) > 0 || compare(b.to, at) < 0 })
		if len(list) == 0 {
			return false
		}
		inner := slices.MaxFunc(list, func(a, b counted) int { return cmp.Or(compare(a.from, b.from), compare(b.to, a.to)) })
		return inner.count > 0
	})
}
