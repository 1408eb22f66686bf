package serve

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
)

// bigLab is a lab of 10,000 runs, of which the newest has 200 epochs of 30 measures and is being worked on. It is filled by SQL: what
// is timed is reading.
func bigLab(t testing.TB) (dir string, lease *store.Lease) { return labOf(t, 10_000) }

// labOf is a bigLab of so many runs.
func labOf(t testing.TB, runs int) (dir string, lease *store.Lease) {
	t.Helper()
	dir = t.TempDir()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lab.Close() })
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "lab.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const config = `{"data":{"name":"glyphs","noise":0.'||(i%4)||'},"net":{"depth":3,"width":128,"feature_dim":2},"loss":{"kind":"ls"},"run":{"epochs":160,"seed":'||i||'}}`
	for _, query := range []string{
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ` + fmt.Sprint(runs-1) + `)
			INSERT INTO run (hash, kind, config, status, generation, last_epoch, created, finished)
			SELECT printf('%064x', i), 'train', '` + config + `', iif(i%10, 'done', 'failed'), 1, 160, 1700000000000 + i, 1700000060000 + i FROM n`,
		`INSERT INTO attempt (run, generation, started, host, version, kernel, goos, goarch, goamd64, cpu)
			SELECT id, 1, created, 'h', '1', 'k', 'linux', 'amd64', 'v1', 'c' FROM run`,
		`INSERT INTO tag (run, name) SELECT id, 'study-' || (id / 500) FROM run WHERE id < 8000`,
	} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	lease, _, err = lab.Lease(store.Spec{Kind: store.Train, Config: map[string]any{"run": map[string]int{"epochs": 400}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lease.Interrupt() })
	var parts []store.Part
	for epoch := int64(1); epoch <= 200; epoch++ {
		parts = append(parts, store.Part{Lease: lease, EpochRows: store.EpochRows{Epoch: epoch, Rows: epochRows(epoch)}})
	}
	if _, err := lab.AppendAll(parts); err != nil {
		t.Fatal(err)
	}
	return dir, lease
}

// epochRows are 30 measures of an epoch, among them those of the main picture.
func epochRows(epoch int64) []store.Value {
	names := []string{"nc1_pinv", "nc2_w", "nc2_means_of", "nc3_gram", "nc4_ncc_mismatch", "loss", "accuracy", "memorization_flipped"}
	for i := len(names); i < 28; i++ {
		names = append(names, fmt.Sprintf("measure_%d", i))
	}
	var rows []store.Value
	add := func(split, name string) {
		rows = append(rows, store.Value{Key: store.Key{Series: "epoch", Split: split, Measure: name}, Step: epoch, Value: 1 / float64(epoch)})
	}
	for _, n := range names {
		add("train", n)
	}
	add("test", "dilation")
	add("test", "accuracy")
	return rows
}

// bigPages are the pages whose cost a large lab decides, with a word that each must hold.
func bigPages(run string) map[string]string {
	return map[string]string{"": "study-", "run/" + run: `data-figure="measures"`, "compare": "Choose two"}
}

func TestPagesOfALargeLab(t *testing.T) {
	dir, lease := bigLab(t)
	s := startTest(t, Options{Lab: dir})
	for path, want := range bigPages(lease.Hash) {
		answer, body := get(t, http.DefaultClient, "GET", s.URL()+path, nil)
		if answer.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("/%s: %d, or without %q", path, answer.StatusCode, want)
		}
		if len(body) > 300<<10 {
			t.Errorf("/%s weighs %d bytes", path, len(body))
		}
	}
}

// BenchmarkPages times the first answer of a server that has nothing in its caches; 300 ms is the aim.
func BenchmarkPages(b *testing.B) {
	dir, lease := bigLab(b)
	for path := range bigPages(lease.Hash) {
		b.Run("page="+strings.TrimSuffix("/"+path, lease.Hash), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := startTest(b, Options{Lab: dir})
				b.StartTimer()
				answer, err := http.Get(s.URL() + path)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, answer.Body); err != nil {
					b.Fatal(err)
				}
				answer.Body.Close()
			}
		})
	}
}

// manySeeds are more than a page of groups shows, and give more runs than a page lists.
const manySeeds = 20

// manyLab is the lab of so many seeds, made once for all tests, which only read it.
func manyLab(t testing.TB) string {
	t.Helper()
	many.Do(func() {
		if many.dir, many.err = os.MkdirTemp("", "collapse-serve-many-"); many.err == nil {
			fillMany(t, many.dir, manySeeds)
		}
	})
	if many.err != nil {
		t.Fatal(many.err)
	}
	return many.dir
}

var many struct {
	sync.Once
	dir string
	err error
}

// ofMany is a lab with a study of finished runs: four noise levels, two losses, a run for each seed, four measured epochs.
func ofMany(t testing.TB, seeds int) string {
	t.Helper()
	if seeds == manySeeds {
		return manyLab(t)
	}
	dir := t.TempDir()
	fillMany(t, dir, seeds)
	return dir
}

func fillMany(t testing.TB, dir string, seeds int) {
	t.Helper()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	var leases []*store.Lease
	var parts []store.Part
	for i := range 8 * seeds {
		lease, _, err := lab.Lease(store.Spec{Kind: store.Train, Tags: []string{"many"}, Config: map[string]any{
			"data": map[string]any{"name": "glyphs", "noise": 0.1 * float64(i%4)}, "loss": map[string]any{"kind": []string{"ce", "ls"}[i/4%2]},
			"run": map[string]any{"epochs": 20, "seed": i / 8}}})
		if err != nil {
			t.Fatal(err)
		}
		for epoch := int64(1); epoch <= 20; epoch += 5 {
			rows := epochRows(epoch)
			for j := range rows {
				if rows[j].Measure == "accuracy" {
					rows[j].Value = 1
				} else {
					rows[j].Value *= 1 + float64(i*i%31)/100
				}
			}
			parts = append(parts, store.Part{Lease: lease, EpochRows: store.EpochRows{Epoch: epoch, Rows: rows}})
		}
		leases = append(leases, lease)
	}
	if _, err := lab.AppendAll(parts); err != nil {
		t.Fatal(err)
	}
	for _, lease := range leases {
		if err := lease.Finish(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStudyOfManyRuns asks that no run of a large study is left out of its verdicts and figures.
func TestStudyOfManyRuns(t *testing.T) {
	seeds := longtest.Of(manySeeds, 60)
	s := startTest(t, Options{Lab: ofMany(t, seeds)})
	query := url.Values{"tag": {"many"}}
	runs, err := ofLab(s.lab, func(lab *store.Reader) ([]judge.Run, error) {
		found, err := s.study(lab, query)
		return found.runs, err
	})
	if err != nil || len(runs) != 8*seeds {
		t.Fatalf("%d runs are judged, want %d (%v)", len(runs), 8*seeds, err)
	}
	judged, err := s.judge(query, runs)
	if err != nil || len(judged) != 1 || len(judged[0].Claims) == 0 {
		t.Fatalf("%d experiments (%v), want one with claims", len(judged), err)
	}
	at := slices.IndexFunc(judged[0].Claims, func(c judge.Claim) bool { return c.ID == "ls-memorizes-less" })
	if at < 0 || len(judged[0].Claims[at].Effect.Cells) != 3 {
		t.Fatalf("no claim about three noise levels among %+v", judged[0].Claims)
	}
	for _, c := range judged[0].Claims[at].Effect.Cells {
		if c.Seeds != seeds {
			t.Errorf("%s rests on %d seeds, want %d", c.Name, c.Seeds, seeds)
		}
	}
	if _, body := get(t, http.DefaultClient, "GET", s.URL()+"study?tag=many", nil); !strings.Contains(body, fmt.Sprint(8*seeds)) {
		t.Errorf("the page does not say that it has %d runs", 8*seeds)
	}
}

// BenchmarkStudyOf2000 times the page of a study of 2,000 runs: the first answer reads all of them, later ones come from the cache.
// 500 ms is the aim.
func BenchmarkStudyOf2000(b *testing.B) { benchmarkStudy(b, 2000) }

// BenchmarkStudyOf10000 has a second for the first answer and 200 ms for later ones.
func BenchmarkStudyOf10000(b *testing.B) { benchmarkStudy(b, 10_000) }

func benchmarkStudy(b *testing.B, runs int) {
	dir := ofMany(b, runs/8)
	ask := func(b *testing.B, s *Server) {
		answer, err := http.Get(s.URL() + "study?tag=many")
		if err != nil {
			b.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), fmt.Sprint(runs)) {
			b.Fatalf("%d, %v: %.300s", answer.StatusCode, err, body)
		}
	}
	b.Run("answer=first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			s := startTest(b, Options{Lab: dir})
			b.StartTimer()
			ask(b, s)
		}
	})
	b.Run("answer=later", func(b *testing.B) {
		s := startTest(b, Options{Lab: dir})
		ask(b, s)
		for b.Loop() {
			ask(b, s)
		}
	})
}

// TestPageWeight adds up what the heaviest page loads, without compression.
func TestPageWeight(t *testing.T) {
	dir, lease := bigLab(t)
	s := startTest(t, Options{Lab: dir})
	total := 0
	for _, path := range []string{"run/" + lease.Hash, "run/" + lease.Hash + "/figures/measures.json", "run/" + lease.Hash + "/figures/measures-more.json",
		"assets/page.css", "assets/uplot.css", "assets/uplot.js", "assets/ink.js", "assets/curves.js", "assets/clouds.js", "assets/draw.js", "assets/page.js", "assets/worker.js", "assets/echarts.js"} {
		answer, body := get(t, &http.Client{Transport: &http.Transport{DisableCompression: true}}, "GET", s.URL()+path, nil)
		if answer.StatusCode != 200 {
			t.Fatalf("%s: %d", path, answer.StatusCode)
		}
		t.Logf("%-40.40s %4d KB", path, len(body)>>10)
		total += len(body)
	}
	t.Logf("%d KB", total>>10)
	if total > 900<<10 {
		t.Errorf("the page of a run of 200 epochs weighs %d KB, wanted at most 900", total>>10)
	}
}
