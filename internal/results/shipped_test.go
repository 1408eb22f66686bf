package results

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write shipped.json anew")

// TestShippedIsTheResult: what the program carries is what docs/results/standard say.
func TestShippedIsTheResult(t *testing.T) {
	text, err := os.ReadFile("../../docs/results/standard/md-fig1.json")
	if err != nil {
		t.Fatal(err)
	}
	var whole Recipe
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	want, err := encode(shorten(whole))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("shipped.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(shipped, want) {
		t.Error("shipped.json is not the result of docs/results/standard: go test ./internal/results -run Shipped -update")
	}
	got, err := Shipped()
	if err != nil || got.Scale != "standard" || len(got.Claims) != len(whole.Claims) || len(got.Figures) != 1 {
		t.Errorf("the program carries %d claims of %s, %v", len(got.Claims), got.ID, err)
	}
	for i, c := range got.Claims {
		if c.Verdict != whole.Claims[i].Verdict || c.Reason != whole.Claims[i].Reason || c.Effect.Pooled == nil && len(c.Effect.Cells) == 0 {
			t.Errorf("the claim %s is another", c.ID)
		}
	}
}
