package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oneMeaning are words with one meaning each in exported names, and the packages that may use them.
var oneMeaning = map[string][]string{
	"Lease":       {"store", "queue"},                            // the right of one process to write to a run
	"Coordinator": {"queue"},                                     // the process that gives runs to workers
	"Headline":    {"measurement", "judge", "study", "findings"}, // the first sentence about features or runs
	"Claim":       {"judge"},                                     // what a paper or a user says
}

// TestWordsHaveOneMeaning reads the exported names of all packages: what holds a run is a lease, a claim is judged, and the first sentence is a
// headline, not a finding.
func TestWordsHaveOneMeaning(t *testing.T) {
	root, used := filepath.Join(".."), map[string]int{}
	err := filepath.WalkDir(root, func(dir string, e os.DirEntry, err error) error {
		if err != nil || !e.IsDir() || strings.HasSuffix(dir, "testdata") {
			return err
		}
		room := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(dir, root), string(filepath.Separator)))
		for name := range exportedNames(t, dir) {
			for word, rooms := range oneMeaning {
				if !strings.Contains(name, word) || word == "Lease" && strings.Contains(name, "Release") {
					continue
				}
				if used[word]++; !slices.Contains(rooms, room) {
					t.Errorf("internal/%s exports %s: what is a %s elsewhere?", room, name, strings.ToLower(word))
				}
			}
			if strings.HasSuffix(name, "Finding") && room != "data" {
				t.Errorf("internal/%s exports %s; the first sentence is a headline", room, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for word := range oneMeaning {
		if used[word] == 0 {
			t.Errorf("no exported name has the word %s: are the sources read?", word)
		}
	}
}

// exportedNames are the exported functions, methods and types of a folder.
func exportedNames(t *testing.T, dir string) map[string]bool {
	out := map[string]bool{}
	for _, f := range sources(t, dir) {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				out[d.Name.Name] = d.Name.IsExported()
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						out[s.Name.Name] = s.Name.IsExported()
					}
				}
			}
		}
	}
	for name, exported := range out {
		if !exported {
			delete(out, name)
		}
	}
	return out
}
