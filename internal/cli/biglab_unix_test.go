//go:build unix

package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"collapse.example/collapse/internal/longtest"
)

// TestBigLabs has labs of up to 10,000 runs and a million rows, one in three of them in a single series, and reads them with every command that
// does: in the time and memory that a stranger's lab may take, too.
func TestBigLabs(t *testing.T) {
	longtest.Only(t)
	base := baseLab(t)
	labs, rows := 0, 0
	for _, seed := range longtest.Seeds(1, 3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 31))
			g := newGround(t, base)
			size := int(math.Pow(10, 2.5+2*rng.Float64())) // runs, or epochs of one
			steps := longtest.Of(10, 100)
			if seed%3 == 2 {
				rows += g.long(t, min(size, longtest.Of(1_000, size))*steps)
			} else {
				rows += g.many(t, min(size, longtest.Of(1_000, 10_000)), steps)
			}
			if err := os.Mkdir(g.path("out"), 0o777); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"runs", "list"}, {"runs", "show", g.hash[:12]}, {"export", "--out", g.path("out", "t.csv")}, {"runs", "check"}, {"lab", "check"}, {"lab", "copy", g.path("out", "copy")},
				{"report", g.hash[:12], "--out", g.path("out", "page")}} {
				g.bounded(t, args...)
			}
			g.served(t, rng)
			labs++
		})
	}
	t.Logf("counted: %d labs, %d rows", labs, rows)
}

// long gives the lab's run more epochs.
func (g ground) long(t *testing.T, epochs int) (rows int) {
	t.Helper()
	g.tables(t, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i+1 FROM n WHERE i < %d)
		INSERT INTO value SELECT run.id, (SELECT min(id) FROM series WHERE measure = 'loss'), i, i, 1.0/i, NULL FROM n, run`, epochs),
		fmt.Sprintf("UPDATE run SET last_epoch = %d", epochs))
	return epochs
}

// many gives the lab more runs, of a study, each with four measures.
func (g ground) many(t *testing.T, runs, epochs int) (rows int) {
	t.Helper()
	g.tables(t, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
			INSERT INTO run (hash, kind, config, status, generation, last_epoch, created, finished)
			SELECT printf('%%064x', i), 'train', json_set(run.config, '$.run.seed', i, '$.data.noise', 0.1*(i%%4)), 'done', 1, %d, created + i, finished + i FROM n, run`, runs, epochs),
		`INSERT OR IGNORE INTO attempt SELECT run.id, 1, run.created, a.host, a.version, a.kernel, a.goos, a.goarch, a.goamd64, a.cpu FROM run, (SELECT * FROM attempt LIMIT 1) a`,
		`INSERT INTO tag SELECT id, 'q' FROM run`,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
			INSERT OR IGNORE INTO value SELECT run.id, s.id, n.i, n.i, 1.0/(n.i+run.id%%7), NULL FROM run, (SELECT id FROM series ORDER BY id LIMIT 4) s, n`, epochs))
	return 4 * runs * epochs
}
