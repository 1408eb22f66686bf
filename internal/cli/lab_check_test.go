package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
)

// TestLabCheckNamesWhatIsForeign: a lab of this program's is in order, and each thing that it would not write is named. Labs that other commands
// refuse are read, too.
func TestLabCheckNamesWhatIsForeign(t *testing.T) {
	base := baseLab(t)
	if code, stdout, stderr := call(t, "--lab", base, "lab", "check"); code != exitOK || !strings.Contains(stdout, "checked 1 runs") {
		t.Errorf("a whole lab: exit code %d: %s%s", code, stdout, stderr)
	}
	plant := func(name string) func(t *testing.T, g ground) {
		return func(t *testing.T, g ground) {
			path := filepath.Join(g.lab, filepath.FromSlash(name))
			if err := os.MkdirAll(path, 0o777); err != nil {
				t.Fatal(err)
			}
		}
	}
	query := func(text string) func(t *testing.T, g ground) {
		return func(t *testing.T, g ground) { g.tables(t, text) }
	}
	link := func(name, to string) func(t *testing.T, g ground) {
		return func(t *testing.T, g ground) { g.link(t, strings.ReplaceAll(name, "HASH", g.hash), to) }
	}
	for want, spoil := range map[string]func(t *testing.T, g ground){
		`".git" is none of a lab's files`:                         plant(".git"),
		"runs/.ssh is no run's folder":                            plant("runs/.ssh"),
		"runs/HASH/notes.txt is a link":                           link("runs/HASH/notes.txt", "../../../victim/notes.txt"),
		"queue.lock is a link to ../victim":                       link("queue.lock", "../victim"),
		`the run "../../victim" is not called by the digest`:      query("UPDATE run SET hash = '../../victim'"),
		`the run "` + strings.Repeat("a", 64) + `" is not called`: query("UPDATE run SET hash = '" + strings.Repeat("a", 64) + "'"),
		`the folder "../../victim" is no run's`:                   query("INSERT INTO removal VALUES ('../../victim')"),
		`"view mine" is not its own`:                              query("CREATE VIEW mine AS SELECT 1"),
		"column run.label has 1 texts of more than 65536 bytes":   query("UPDATE run SET label = printf('%.70000c', 'x')"),
		"checkpoint 3, its last, is missing": func(t *testing.T, g ground) {
			if err := os.RemoveAll(filepath.Join(g.lab, "runs", g.hash, "ckpt", "3")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		g := newGround(t, base)
		spoil(t, g)
		before := g.around(t)
		code, stdout, stderr := call(t, "--lab", g.lab, "lab", "check")
		if want = strings.ReplaceAll(want, "HASH", g.hash); code != exitFailed || !strings.Contains(stdout+stderr, want) {
			t.Errorf("exit code %d, want %q: %s%s", code, want, stdout, stderr)
		}
		if after := g.around(t); len(after) != len(before) {
			t.Errorf("%s: what is around the lab has changed", want)
		}
	}
}

// TestReadersMayBeLeft: a command may be abandoned while it reads a lab, and not once it has opened it for writing.
func TestReadersMayBeLeft(t *testing.T) {
	dir := t.TempDir()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.Close(); err != nil {
		t.Fatal(err)
	}
	var got []bool
	a := &app{ctx: t.Context(), flags: &program{}}
	a.flags.Lab = dir
	defer a.closeLab()
	look := func(_ any, err error) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, a.leaveable.Load())
	}
	look(a.reader())
	look(a.openLab())
	a.read.Close()
	a.read = nil
	look(a.reader())
	if !slices.Equal(got, []bool{true, false, false}) {
		t.Errorf("may be left: %v", got)
	}
}
