package serve

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
)

// news is what an open page of a run adds to its contents, often, while the run computes. It costs a small part of the whole page,
// which is requested less often.
type news struct {
	Tiles   map[string]string `json:"tiles"`   // by name
	Figures []chart.Figure    `json:"figures"` // the curves, with only the new points
}

// runNews answers with what has come after an epoch; with "more", including the folded curves.
func (s *Server) runNews(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	after, err := strconv.ParseInt(q.Get("after"), 10, 64)
	if err != nil {
		return badRequest("after=%q is not an epoch", clip(q.Get("after")))
	}
	run, _, err := s.run(r.PathValue("hash"))
	if err != nil {
		return err
	}
	row := listed([]judge.Run{run}, time.Now())[0]
	out := news{Tiles: map[string]string{}, Figures: []chart.Figure{}}
	for _, t := range runTiles(&row) {
		out.Tiles[t.Name] = t.Value
	}
	fresh := []judge.Run{run.After(after)}
	out.Figures = append(out.Figures, figure.Curves(fresh).Figure)
	if q.Has("more") {
		out.Figures = append(out.Figures, figure.OtherCurves(fresh).Figure)
	}
	body, err := json.Marshal(out)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Write(body) // a browser that has left is not our error
	return nil
}
