package results_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/results"
)

// answered is a claim with the answers of six seeds in two cells, as judged.
func answered(t *testing.T) judge.Claim {
	t.Helper()
	left, right := []judge.Quantity{1, 1.1, 0.9, 1.05, 0.95, 1.02}, []judge.Quantity{2, 2.1, 2.2, 1.9, 2, 2.05}
	c := judge.Claim{ID: "falls", Statement: "NC1 falls", Effect: &judge.Effect{Kind: judge.Less, Unit: "log-ratio", Sides: [2]string{"a", "b"}, How: "by hand",
		Replicates: []uint64{0, 1, 2, 3, 4, 5}, Cells: []judge.Cell{{Name: "x = 1", Each: &judge.BySeed{Left: left, Right: right}}, {Name: "x = 2", Each: &judge.BySeed{Left: right, Right: left}}}}}
	out, err := c.FromSeeds()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A folder that says what its numbers say passes; each thing that somebody may change in it by hand is found.
func TestCheckFindsWhatWasChanged(t *testing.T) {
	r := some("a", judge.Holds)
	r.Claims = append(r.Claims, answered(t), judge.Claim{ID: "theory", Verdict: judge.Holds, Reason: "f = f*"})
	dir := filepath.Join(t.TempDir(), "r")
	if err := results.Save(outfile.At(dir, results.Kind), r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.json"), []byte(`{"a": 1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	audit, err := results.Check(dir, nil)
	if err != nil || audit.Recipes != 1 || audit.Again != 1 || audit.NotKept != 1 || audit.NoSeeds != 1 || len(audit.Skipped) != 1 || len(audit.Different) != 0 {
		t.Fatalf("%+v, %v", audit, err)
	}
	if c := r.Claims[1]; c.Verdict != judge.CannotTell || c.Effect.Pooled == nil || !c.Effect.Cells[1].Contradicts && !strings.Contains(c.Reason, "zero") && !strings.Contains(c.Reason, "1") {
		t.Errorf("the claim is not one that cells of both signs make: %+v", c)
	}
	text := read(t, dir, "a.json")
	lower := regexp.MustCompile(`"name":"x = 1"[^}]*"lo":[0-9.]+`).FindString(text)
	for was, is := range map[string]string{
		`"verdict":"cannot tell","reason":"the ratio`: `"verdict":"holds","reason":"the ratio`,
		`"reason":"the ratio is 1`:                    `"reason":"the ratio is 2`,
		`"left":[1,1.1,0.9,`:                          `"left":[1,1.1,0.8,`,
		`"replicates":[0,1,2,3,4,5]`:                  `"replicates":[0,1,2,3,4]`,
		lower:                                         strings.Replace(lower, `"lo":0`, `"lo":1`, 1),
		`"kind":"less","unit":"log-ratio","sides":["a","b"],"replicates"`: `"kind":"more","unit":"log-ratio","sides":["a","b"],"replicates"`,
	} {
		changed := strings.Replace(text, was, is, 1)
		if changed == text {
			t.Errorf("the file lacks %s:\n%s", was, text)
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		audit, err := results.Check(dir, nil)
		if err != nil || len(audit.Different) != 1 || audit.Different[0].Claim != "falls" {
			t.Errorf("%s: %+v, %v", is, audit, err)
		}
	}
}

// Nothing that a stranger writes into a file makes judging again panic.
func FuzzFromSeeds(f *testing.F) {
	f.Add([]byte(`{"effect":{"kind":"equal","unit":"difference","band":[-1,1],"replicates":[1,2],"cells":[{"each":{"left":[1,null],"right":[0,1]}}]}}`))
	f.Add([]byte(`{"effect":{"kind":"linear","unit":"quotient","band":[-1,1],"replicates":[1,2,3,4,5],"cells":[{"each":{"left":[1,2,3,4,5],"right":[0,0,0,0,0]}}]}}`))
	f.Add([]byte(`{"effect":{"kind":"differ","unit":"log-ratio","band":[0.5,2],"replicates":[1],"cells":[{"each":{"left":[-1],"right":[0]}},{"each":{"left":[1e308],"right":[1e-308]}}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var c judge.Claim
		if json.Unmarshal(text, &c) == nil {
			_, _ = c.FromSeeds()
		}
	})
}
