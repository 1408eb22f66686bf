package findings

import (
	"testing"

	"collapse.example/collapse/internal/judge"
)

// TestWhoseClaimsTheyAre: of a page's claims those of the study's file are the study's; a paper's and the program's stay theirs.
func TestWhoseClaimsTheyAre(t *testing.T) {
	claims := []judge.Claim{{ID: "a", Source: judge.Ours}, {ID: "b", Source: judge.FromPaper}, {ID: "growth", Source: judge.Ours}}
	got := AskedAmong(claims, []judge.Statement{{ID: "a"}, {ID: "b"}})
	for i, want := range []judge.Source{judge.OfStudy, judge.FromPaper, judge.Ours} {
		if got[i].Source != want {
			t.Errorf("%s is called %q, want %q", got[i].ID, got[i].Source, want)
		}
	}
	if claims[0].Source != judge.Ours {
		t.Error("the claims themselves are changed")
	}
}
