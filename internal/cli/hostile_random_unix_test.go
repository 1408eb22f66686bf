//go:build unix

package cli

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
)

// TestRandomHostileLabs spoils labs by chance, in several ways at once, and runs every command on them: in a campaign each in a process, whose
// time and memory are bounded, and which a signal ends for every tenth lab.
func TestRandomHostileLabs(t *testing.T) {
	base := studyLab(t)
	labs, ended := 0, 0
	for _, seed := range longtest.Seeds(3, 40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { ended += hostileLab(t, base, seed) })
		labs++
	}
	t.Logf("counted: %d labs, %d commands ended by a signal", labs, ended)
}

// hostileLab runs every command on one lab, and returns how many a signal ended.
func hostileLab(t *testing.T, base string, seed uint64) (ended int) {
	rng := rand.New(rand.NewPCG(seed, 23))
	g := newGround(t, base)
	what := strings.Join(g.spoil(t, rng), ", ")
	defer func() {
		if t.Failed() {
			t.Log("the lab: " + what)
		}
	}()
	interrupted := longtest.Campaign() && seed%10 == 0
	share := longtest.Of(3, 1) // one in so many commands
	for _, args := range g.commands(interrupted) {
		switch {
		case !longtest.Campaign() && rng.IntN(share) > 0:
		case !longtest.Campaign():
			g.harmless(t, "seed "+fmt.Sprint(seed), args...)
		case interrupted:
			if g.signalled(t, rng, args...) {
				ended++
			}
		default:
			g.bounded(t, args...)
		}
	}
	if longtest.Campaign() {
		g.served(t, rng)
	}
	g.private(t, "seed "+fmt.Sprint(seed))
	return ended
}

// studyLab is a lab with one finished run, and a study of another.
func studyLab(t *testing.T) string {
	t.Helper()
	lab := baseLab(t)
	file := filepath.Join(filepath.Dir(lab), "q.toml")
	if err := os.WriteFile(file, []byte(hostileStudy), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, exitOK, "--lab", lab, "study", "run", file, "--workers", "1")
	return lab
}

// commands are those that read, change or copy a lab. What they write goes to out. Long ones are at work when a signal comes.
func (g ground) commands(long bool) [][]string {
	out := func(name string) string { return g.path("out", name) }
	run, study, train := g.hash[:12], g.path("q.toml"), slices.Clone(hostileTrain)
	if long {
		train = append(train, "--set", "run.epochs=20000")
		study = g.path("long.toml")
	}
	return [][]string{
		{"runs", "list"}, {"report", "--out", out("report")}, {"export", "--out", out("t.csv")}, {"export", "--tensorboard", out("events")}, {"lab", "copy", out("copy")}, {"lab", "check"}, {"--lab", out("mine"), "lab", "merge", g.lab},
		{"runs", "show", run}, {"study", "list"}, {"study", "status", "q"}, train, {"train", "--resume", run}, {"runs", "add", "mine", g.path("h.jsonl")},
		{"study", "run", study, "--workers", "1"}, {"study", "resume", "q", "--workers", "1"}, {"study", "report", "q", "--out", out("study")}, {"study", "export", "q", "--out", out("q.csv")}, {"study", "judge", "q"},
		{"study", "cancel", "q"}, {"study", "retry", "q"}, {"runs", "check", "--repair"}, {"runs", "gc"}, append(slices.Clone(train), "--again"), {"runs", "rm", run}, {"runs", "gc"},
	}
}

// a thing that a stranger may do to a lab; it says what.
type spoiling func(t *testing.T, g ground, rng *rand.Rand) string

var spoilings = []spoiling{spoilRow, spoilRow, spoilLink, spoilLink, spoilLink, spoilFile, spoilFile, spoilState, spoilText, spoilDatabase}

// spoil does a few things to a lab that a stranger may do, and says which.
func (g ground) spoil(t *testing.T, rng *rand.Rand) (did []string) {
	t.Helper()
	for range 1 + rng.IntN(4) {
		did = append(did, spoilings[rng.IntN(len(spoilings))](t, g, rng))
	}
	return did
}

func oneOf(rng *rand.Rand, list ...string) string { return list[rng.IntN(len(list))] }

// target is a place where a link or a name should not lead.
func (g ground) target(rng *rand.Rand) string {
	up := strings.Repeat("../", 1+rng.IntN(5))
	return oneOf(rng, up+"victim", up+"victim/thesis", up+"victim/thesis/t.tex", up+"victim/notes.txt", up+".ssh", g.path("victim"), g.path("project", ".ssh", "id"), "nowhere", "../"+g.hash)
}

func spoilRow(t *testing.T, g ground, rng *rand.Rand) string {
	target := g.target(rng)
	query := oneOf(rng, "INSERT OR IGNORE INTO removal VALUES ('"+target+"')", "INSERT OR IGNORE INTO removal VALUES ('.trash-"+target+"')", "INSERT OR IGNORE INTO removal VALUES ('.trash-x/"+target+"')",
		"UPDATE OR IGNORE run SET hash = '"+target+"'", "INSERT OR IGNORE INTO removal VALUES ('"+g.hash+"')", "UPDATE run SET label = '"+target+"'",
		"CREATE VIEW IF NOT EXISTS v AS SELECT 1", "CREATE TRIGGER IF NOT EXISTS t AFTER UPDATE ON run BEGIN INSERT INTO removal VALUES ('"+target+"'); END")
	return g.try(query)
}

func spoilState(t *testing.T, g ground, rng *rand.Rand) string {
	return g.try("UPDATE run SET status = '" + oneOf(rng, "pending", "running", "interrupted", "failed") + "'")
}

// hostileClaims are questions that would take long, were expressions able to loop.
const hostileClaims = `'[study]
[[claim]]
id = "a"
says = "b"
kind = "less"
early = true
left = "let a = 1..1000; count(a, count(a, count(a, count(a, true))))"
right = "final(''train.nc1_pinv'')"'`

// spoilText has long and odd words where the lab keeps words.
func spoilText(t *testing.T, g ground, rng *rand.Rand) string {
	words := oneOf(rng, "CAST(x'1b5d303b68611b5b324a' AS TEXT)", "'</script><script>alert(1)</script>'", "'=cmd|calc'", "hex(zeroblob(500000))", "hex(zeroblob(7000000))", "hex(zeroblob(60000000))",
		"CAST(zeroblob(1000) AS TEXT)", hostileClaims, "'"+g.path("victim", "notes.txt")+"'", "''")
	number := oneOf(rng, "9223372036854775807", "-9223372036854775808", "0", "-1")
	return g.try(oneOf(rng, "UPDATE run SET label = "+words, "UPDATE run SET error = "+words, "UPDATE run SET config = json_quote("+words+")", "UPDATE attempt SET host = "+words, "UPDATE attempt SET version = "+words,
		"UPDATE run SET last_epoch = "+number, "UPDATE run SET created = "+number, "UPDATE value SET step = step + "+number, "INSERT INTO tag SELECT id, "+words+" FROM run", "UPDATE series SET measure = "+words+" || id",
		"UPDATE run SET kind = "+words, "UPDATE run SET config = json_set(config, '$.net.width', "+number+")", "UPDATE run SET config = json_set(config, '$.run.epochs', "+number+")", "UPDATE study_run SET payload = "+words,
		"UPDATE study SET source = "+words, "UPDATE study_run SET note = "+words, "UPDATE study SET name = "+words))
}

func spoilLink(t *testing.T, g ground, rng *rand.Rand) string {
	run := "runs/" + g.hash
	name := oneOf(rng, "runs", run, run+"/ckpt", run+"/ckpt/3", run+"/ckpt/.tmp", run+"/ckpt/.gone", run+"/config.toml", run+"/config.toml.tmp", run+"/features.npz", run+"/features.npz.tmp",
		run+"/frames", run+"/notes.txt", run+"/.script", "runs/.trash-"+g.hash, "runs/"+strings.Repeat("a", 64), "runs/x", "queue", "queue/jetstream", "queue.lock", "queue.blobs", "queue.token", "queue.health.tmp",
		"lab.sqlite", "lab.sqlite-wal", "lab.sqlite-shm", "lab.sqlite-journal")
	target := g.target(rng)
	g.link(t, name, target)
	return name + " -> " + target
}

// spoilFile plants files: words, a pipe that nobody writes to, and a large one that takes no room.
func spoilFile(t *testing.T, g ground, rng *rand.Rand) string {
	run := "runs/" + g.hash
	name := oneOf(rng, "runs/.ssh/id", "runs/0123/x", "runs/.trash-x/y", "runs/"+strings.Repeat("b", 64)+"/z", run+"/ckpt/7/state.json", run+"/ckpt/3/state.json", run+"/ckpt/3/model.safetensors", run+"/ckpt/.tmp/x",
		run+"/config.toml", run+"/features.npz", run+"/x.json", "queue.token", "queue.blobs", "queue.lock", "queue/jetstream/x", "lab.sqlite-wal", "lab.sqlite-journal")
	path := filepath.Join(g.lab, filepath.FromSlash(name))
	if behindLink(g.lab, path) || os.MkdirAll(filepath.Dir(path), 0o777) != nil {
		return "no file"
	}
	kind := oneOf(rng, "the file", "the file", "the pipe", "the sparse file", "the folder")
	switch kind { // each may fail: there may be a folder already
	case "the file":
		_ = os.Remove(path) // a pipe would have no reader
		_ = os.WriteFile(path, []byte("a stranger's words, at least sixteen\n"), 0o666)
	case "the pipe":
		_ = os.Remove(path)
		_ = syscall.Mkfifo(path, 0o666)
	case "the sparse file":
		if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o666); err == nil {
			_ = f.Truncate(1 << 30)
			f.Close()
		}
	case "the folder":
		_ = os.Remove(path)
		_ = os.MkdirAll(filepath.Join(path, "x"), 0o777)
	}
	return kind + " " + name
}

// try changes the lab's database, if it can be changed, and says how.
func (g ground) try(queries ...string) string {
	for _, name := range []string{"lab.sqlite", "lab.sqlite-wal", "lab.sqlite-shm", "lab.sqlite-journal"} {
		if info, err := os.Lstat(filepath.Join(g.lab, name)); err == nil && !info.Mode().IsRegular() {
			return "no database" // this test would follow a link itself
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(g.lab, "lab.sqlite"))
	if err != nil {
		return err.Error()
	}
	defer db.Close()
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second) // a table may be without end
	defer stop()
	for _, q := range queries {
		_, _ = db.ExecContext(ctx, q) // the tables may be damaged
	}
	return strings.Join(queries, "; ")
}

// spoilDatabase damages the file of the tables, or has a query without end where a table was.
func spoilDatabase(t *testing.T, g ground, rng *rand.Rand) string {
	const endless = "(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) AS n FROM c)"
	if rng.IntN(3) == 0 {
		table := oneOf(rng, "run", "tag", "series", "value", "study", "removal", "attempt")
		return g.try("ALTER TABLE "+table+" RENAME TO old_"+table, "CREATE VIEW "+table+" AS SELECT * FROM old_"+table+", "+endless)
	}
	path := filepath.Join(g.lab, "lab.sqlite")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "no database"
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 1 + rng.IntN(20) {
		_, _ = f.WriteAt([]byte{byte(rng.IntN(256))}, rng.Int64N(info.Size()))
	}
	return "bytes of the tables"
}
