package findings

import (
	"testing"

	"collapse.example/collapse/internal/judge"
)

// TestWhoseClaimsTheyAre: of a page's claims those of the study's file are the study's; a paper's and the program's stay theirs.
func TestWhoseClaimsTheyAre(t *testing.T) {
	of := func(id string, source judge.Source) judge.Claim {
		return judge.Claim{ID: id, Provenance: judge.Provenance{Source: source}}
	}
	claims := []judge.Claim{of("a", judge.Ours), of("b", judge.FromPaper), of("growth", judge.Ours)}
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
