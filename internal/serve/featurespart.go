package serve

import (
	"net/http"
	"net/url"
	"strconv"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
)

// featuresPart is the part of a run's page that shows features epoch by epoch.
type featuresPart struct {
	Epochs  []int64
	Epoch   int64
	Newest  bool // the last epoch is shown, and the page follows new ones
	Whole   bool // there are several epochs
	Figures []shownFigure
	Base    string
}

// featuresPart draws the epoch that a query asks for, or the newest.
func (s *Server) featuresPart(run *judge.Run, dir string, q url.Values) (*featuresPart, error) {
	film, err := figure.OpenFilm(dir)
	if err != nil {
		return nil, err
	}
	p := &featuresPart{Epochs: film.Epochs, Whole: film.Whole(), Base: framesBase(run)}
	p.Epoch, p.Newest = epochOf(film, q)
	pictures, err := film.Pictures(p.Epoch)
	if err != nil {
		return nil, err
	}
	p.Figures = drawAll(pictures, p.Base, url.Values{"epoch": {strconv.FormatInt(p.Epoch, 10)}})
	return p, nil
}

// newFrames is the part without its pictures, for an open page, which asks for the pictures of the epoch it shows.
func newFrames(run *judge.Run, dir string) (*featuresPart, error) {
	epochs, err := judge.FilmEpochs(dir)
	if err != nil || len(epochs) == 0 {
		return nil, err
	}
	return &featuresPart{Epochs: epochs, Epoch: epochs[len(epochs)-1], Newest: true, Whole: true, Base: framesBase(run)}, nil
}

func framesBase(run *judge.Run) string { return "/run/" + run.Hash + "/features" }

// epochOf is the kept epoch that a query means.
func epochOf(film *figure.Film, q url.Values) (epoch int64, newest bool) {
	if n, err := strconv.ParseInt(q.Get("epoch"), 10, 64); err == nil {
		return film.Nearest(n), false
	}
	return film.Epochs[len(film.Epochs)-1], true
}

// featureFigures are the pictures of one epoch's features.
func (s *Server) featureFigures(r *http.Request) ([]figure.Picture, error) {
	_, dir, err := s.find(r.PathValue("hash"))
	if err != nil {
		return nil, err
	}
	film, err := figure.OpenFilm(dir)
	if err != nil {
		return nil, statusError{http.StatusNotFound, err}
	}
	epoch, _ := epochOf(film, r.URL.Query())
	return film.Pictures(epoch)
}
