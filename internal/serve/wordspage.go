package serve

import (
	"fmt"
	"net/http"
	"strings"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
)

// wordsPage says what the words of the other pages mean, in drawings.
type wordsPage struct {
	frame
	Figures []shownFigure
}

func (s *Server) wordsPage(w http.ResponseWriter, r *http.Request) error {
	p := wordsPage{frame: s.frame(r, "words", "What the words mean")}
	p.Figures = drawAll(figure.Words(), "/words/figures", nil)
	s.write(w, http.StatusOK, "words", p)
	return nil
}

// explanations are the places of that page by the word that names of tiles, of dials and verdicts begin with.
var explanations = []struct{ word, place string }{
	{"NC1", "figure-word-nc1"}, {"NC2", "figure-word-nc2"}, {"NC3", "figure-word-nc3"}, {"NC4", "nc4"},
	{"dilation", "figure-word-dilation"}, {"memorization", "figure-word-memorization"}, {"degenerate", "figure-word-degenerate"},
	{"in the terminal phase", "unfitted"}, {"noise level", "noise"}, {"η", "noise"}, {"h*", "features"}, {"seed", "seed"},
	{string(judge.Holds), "holds"}, {string(judge.Fails), "holds"}, {string(judge.Partly), "partly"}, {string(judge.CannotTell), "cannot-tell"},
}

// explained is where a word is explained; "" for one that needs no explanation.
func explained(word any) string {
	for _, e := range explanations {
		if strings.HasPrefix(fmt.Sprint(word), e.word) {
			return "/words#" + e.place
		}
	}
	return ""
}
