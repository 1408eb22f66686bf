package cli

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
)

// TestRandomOutputFolders has a user and commands write to one folder in turn. What the user wrote, edited or linked stays as it is; a command that
// fails changes nothing, and none leaves a temporary file.
func TestRandomOutputFolders(t *testing.T) {
	lab := baseLab(t)
	done, refused := 0, 0
	for _, seed := range longtest.Seeds(2, 20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := shared{rng: rand.New(rand.NewPCG(seed, 29)), dir: t.TempDir(), mine: map[string]string{}}
			s.write(t, filepath.Join(s.dir, "victim", "index.html"), "mine")
			for range 5 {
				s.user(t)
				if s.command(t, lab) {
					done++
				} else {
					refused++
				}
			}
		})
	}
	t.Logf("counted: %d commands, %d refusals", done+refused, refused)
}

// shared is a folder that a user and commands write to.
type shared struct {
	rng  *rand.Rand
	dir  string
	mine map[string]string // the user's files, and targets of the user's links
	did  []string
}

func (s *shared) out() string { return filepath.Join(s.dir, "out") }

func (s *shared) write(t *testing.T, path, text string) {
	t.Helper()
	if os.MkdirAll(filepath.Dir(path), 0o777) != nil || os.WriteFile(path, []byte(text), 0o666) != nil {
		return // such as a folder of that name
	}
	s.mine[path] = text
}

// user does something to the folder: most of it to files that have, or will have, names of a page.
func (s *shared) user(t *testing.T) {
	t.Helper()
	names := []string{"index.html", "figures/mine.svg", "data.json", "notes.txt", ".collapse-files", "figures"}
	for path := range contents(t, s.dir) {
		if name, err := filepath.Rel(s.out(), path); err == nil && filepath.IsLocal(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	path := filepath.Join(s.out(), names[s.rng.IntN(len(names))])
	what := []string{"writes", "links", "deletes", "nothing", "nothing", "nothing"}[s.rng.IntN(6)]
	s.did = append(s.did, what+" "+path)
	info, err := os.Lstat(path)
	if (what == "writes" || what == "links") && err == nil && (info.IsDir() || filepath.Base(path) == ".collapse-files") {
		return // the list is the program's, which a user may delete
	}
	switch what {
	case "writes":
		delete(s.mine, path)
		_ = os.Remove(path)
		s.write(t, path, fmt.Sprint("mine ", s.rng.Uint64()))
	case "links":
		target := filepath.Join(s.dir, "victim", "index.html")
		if os.MkdirAll(filepath.Dir(path), 0o777) == nil && (err != nil || os.Remove(path) == nil) && os.Symlink(target, path) == nil {
			s.mine[path] = s.mine[target]
		}
	case "deletes":
		if os.Remove(path) == nil {
			delete(s.mine, path)
		}
	}
}

// command writes the folder, and reports whether it could.
func (s *shared) command(t *testing.T, lab string) bool {
	t.Helper()
	args := [][]string{{"dilation", "--out"}, {"dilation", "--eta", "0.06", "--out"}, {"dilation", "--sweep", "eta=0.01,0.1", "--out"}, {"landscape", "--out"}, {"export", "--tensorboard"}}[s.rng.IntN(5)]
	before := contents(t, s.dir)
	code, _, said := call(t, append(append([]string{"--lab", lab}, args...), s.out())...)
	s.did = append(s.did, fmt.Sprint(args, code))
	after := contents(t, s.dir)
	for path, text := range s.mine {
		if string(after[path]) != text {
			t.Errorf("%v: %s of the user's is now %.100q, it was %q", s.did, path, after[path], text)
		}
	}
	if code != exitOK && !maps.EqualFunc(before, after, bytes.Equal) {
		t.Errorf("%v: it fails, %s, and changes the folder", s.did, said)
	}
	if code != exitOK && !strings.Contains(said, s.out()) {
		t.Errorf("%v: it does not name the folder: %s", s.did, said)
	}
	if left, err := filepath.Glob(filepath.Join(s.out(), ".collapse-new-*")); err != nil || len(left) > 0 {
		t.Errorf("%v: %v stay", s.did, left)
	}
	return code == exitOK
}
