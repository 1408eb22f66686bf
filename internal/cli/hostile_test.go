package cli

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostileTrain is a run of a few milliseconds.
var hostileTrain = []string{"train", "--data", "glyphs", "--classes", "3", "--depth", "1", "--width", "8", "--epochs", "3",
	"--set", "data.samples_per_class=20", "--set", "data.test_samples_per_class=20"}

const hostileStudy = `[study]
name = "q"
seeds = 1
[base]
data = {name = "glyphs", classes = 3, samples_per_class = 20, test_samples_per_class = 20}
net = {depth = 1, width = 8}
run = {epochs = 1}
`

// precious is what the user's own files hold: it must stay there, and nowhere else must it appear.
const precious = "precious, and nobody else's"

// ground is a place with a lab of a stranger's, and with files of the user's around it.
type ground struct {
	dir, lab, hash string
}

// newGround copies a lab with one finished run to a new place.
func newGround(t *testing.T, base string) ground {
	t.Helper()
	g := ground{dir: t.TempDir()}
	g.lab = g.path("project", "lab")
	err := os.CopyFS(g.lab, os.DirFS(base))
	for _, file := range []string{"victim/thesis/t.tex", "project/victim/notes.txt", "project/.ssh/id"} {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(g.path(file)), 0o777), os.WriteFile(g.path(file), []byte(precious), 0o666))
	}
	for file, text := range map[string]string{"q.toml": hostileStudy, "h.jsonl": `{"epoch": 3, "values": {"train/nc1_pinv": 0.5}}` + "\n",
		"long.toml": strings.NewReplacer(`"q"`, `"long"`, "epochs = 1", "epochs = 20000").Replace(hostileStudy)} {
		err = errors.Join(err, os.WriteFile(g.path(file), []byte(text), 0o666))
	}
	runs, readErr := os.ReadDir(filepath.Join(base, "runs"))
	if err := errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	g.hash = runs[0].Name()
	return g
}

func (g ground) path(names ...string) string {
	return filepath.Join(append([]string{g.dir}, names...)...)
}

// baseLab is a lab with one finished run.
func baseLab(t *testing.T) string {
	t.Helper()
	lab := filepath.Join(t.TempDir(), "lab")
	if code, _, stderr := call(t, append([]string{"--lab", lab}, hostileTrain...)...); code != exitOK {
		t.Fatal(stderr)
	}
	return lab
}

// tables changes the lab's database.
func (g ground) tables(t *testing.T, queries ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(g.lab, "lab.sqlite"))
	for _, q := range queries {
		if err == nil {
			_, err = db.Exec(q)
		}
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// link replaces something in the lab by a link.
func (g ground) link(t *testing.T, name, target string) {
	t.Helper()
	path := filepath.Join(g.lab, filepath.FromSlash(name))
	if behindLink(g.lab, filepath.Dir(path)) {
		return
	}
	if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o777)); err != nil {
		return // such as a place in a file
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("this file system has no symbolic links: %v", err)
	}
}

// around is a digest of each file and link that is not in the lab.
func (g ground) around(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(g.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == g.lab || path == g.path("out") {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		found[path] = e.Type().String()
		if e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			found[path] = fmt.Sprintf("%x", sha256.Sum256(text))
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// harmless runs a command against the lab, and fails if anything around the lab has changed, if the command hangs, or if it gave away what
// is the user's own.
func (g ground) harmless(t *testing.T, what string, args ...string) (code int, stderr string) {
	t.Helper()
	before := g.around(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var stdout, says strings.Builder
	code = run(ctx, append([]string{"--threads", "1", "--lab", g.lab}, args...), &stdout, &says)
	if ctx.Err() != nil {
		t.Errorf("%s: %v hangs", what, args)
	}
	if after := g.around(t); !maps.Equal(before, after) {
		t.Errorf("%s: %v changes what is around the lab:\n%v\n%v", what, args, before, after)
	}
	if strings.Contains(stdout.String(), precious) {
		t.Errorf("%s: %v prints a file of the user's", what, args)
	}
	return code, says.String()
}

// private fails if a file of the user's has come into what the commands wrote.
func (g ground) private(t *testing.T, what string) {
	t.Helper()
	for _, dir := range []string{g.lab, g.path("out")} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err != nil || !e.Type().IsRegular() {
				return nil
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			text, err := io.ReadAll(io.LimitReader(f, 4<<20)) // there are large files that take no room
			if strings.Contains(string(text), precious) {
				t.Errorf("%s: %s holds a file of the user's", what, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestHostileLabs has the labs by which files of the user's were removed, overwritten or given away, or which hung every command. Each is refused, or the
// command does what it does without harm.
func TestHostileLabs(t *testing.T) {
	base := baseLab(t)
	for what, one := range map[string]struct {
		spoil   func(t *testing.T, g ground)
		command []string
		code    int
		says    string
	}{
		"a removal of a folder outside": {func(t *testing.T, g ground) {
			g.tables(t, "INSERT INTO removal VALUES ('.trash-x/../../../victim')")
		}, hostileTrain, exitFailed, `table removal has a row whose folder is ".trash-x/../../../victim"`},
		"a run called like a folder outside": {func(t *testing.T, g ground) {
			g.tables(t, "UPDATE run SET hash = '../../victim'")
		}, []string{"lab", "copy", "COPY"}, exitFailed, `table run has a row whose hash is "../../victim"`},
		"runs is a link": {func(t *testing.T, g ground) {
			g.link(t, "runs", "../victim")
		}, []string{"runs", "gc"}, exitFailed, "links.toml"},
		"a folder in runs that is no run's": {func(t *testing.T, g ground) {
			if err := os.MkdirAll(filepath.Join(g.lab, "runs", ".ssh"), 0o777); err != nil {
				t.Fatal(err)
			}
		}, []string{"lab", "check"}, exitFailed, "holds what this program does not write (1 findings)"},
		"queue.lock is a link": {func(t *testing.T, g ground) {
			g.link(t, "queue.lock", "../victim/notes.txt")
		}, []string{"study", "run", "STUDY", "--workers", "1"}, exitFailed, "is a link to ../victim/notes.txt"},
		"queue.blobs is a link": {func(t *testing.T, g ground) {
			g.link(t, "queue.blobs", "../victim/notes.txt")
		}, []string{"study", "run", "STUDY", "--workers", "1"}, exitFailed, "is a link to ../victim/notes.txt"},
		"a link in a run's folder": {func(t *testing.T, g ground) {
			g.link(t, "runs/"+g.hash+"/notes.txt", "../../../victim/notes.txt")
		}, []string{"lab", "copy", "COPY"}, exitOK, ""},
		"a view for a table": {func(t *testing.T, g ground) {
			g.tables(t, "ALTER TABLE run RENAME TO run_0", `CREATE VIEW run AS SELECT id, hash, kind, config, status, error, label, generation, last_epoch, created, finished, remote
				FROM run_0, (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c)`)
		}, []string{"runs", "list"}, exitFailed, `"view run" is not its own`},
		"checkpoints elsewhere": {func(t *testing.T, g ground) {
			g.tables(t, "UPDATE run SET status = 'interrupted'")
			g.link(t, "runs/"+g.hash+"/ckpt", "../../../victim")
		}, []string{"train", "--resume", "RUN"}, exitFailed, "is a link to ../../../victim"},
	} {
		t.Run(what, func(t *testing.T) {
			g := newGround(t, base)
			one.spoil(t, g)
			words := strings.NewReplacer("COPY", g.path("out", "copy"), "STUDY", g.path("q.toml"), "RUN", g.hash[:12])
			args := strings.Split(words.Replace(strings.Join(one.command, "\x00")), "\x00")
			if code, stderr := g.harmless(t, what, args...); code != one.code || !strings.Contains(stderr, one.says) {
				t.Errorf("%v exits with %d: %s", args, code, stderr)
			}
			g.private(t, what)
		})
	}
}

// TestCopyNamesLinks: what is not copied is said.
func TestCopyNamesLinks(t *testing.T) {
	g := newGround(t, baseLab(t))
	g.link(t, "runs/"+g.hash+"/notes.txt", "../../../victim/notes.txt")
	code, stdout, stderr := call(t, "--lab", g.lab, "lab", "copy", g.path("out", "copy"))
	if code != exitOK || !strings.Contains(stdout, "runs/"+g.hash+"/notes.txt is a link: it is not copied") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// behindLink reports whether a link is on the way from dir to path.
func behindLink(dir, path string) bool {
	for ; path != dir; path = filepath.Dir(path) {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
