package serve

import (
	"net/http"

	"collapse.example/collapse/internal/figure"
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
