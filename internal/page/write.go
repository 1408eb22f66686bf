package page

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"collapse/internal/chart"
	"collapse/internal/figure"
	"collapse/internal/outfile"
)

// Write makes the page of a study, dir/index.html, and dir/figures/<id>.svg, .png, .csv and .json for
// each of its pictures. With a single run it is the page of that run. Every file is complete before
// it takes its place (see package outfile), the page last, so an open page always finds its figures.
//
// The same runs and words give the same bytes. dir is created if missing; other files in it stay.
func Write(dir string, study Study) (Result, error) {
	p, pictures, res := build(study)
	var err error
	if res.Figures, err = writePictures(dir, pictures); err != nil {
		return Result{}, err
	}
	shownFigures, last := p.figures()
	rest, err := arrange(func() (int, error) { html, err := execute("study", p); return len(html), err }, shownFigures, last)
	if err != nil {
		return Result{}, err
	}
	if res.More, err = writeMore(dir, p.Title, p.Made, rest); err != nil {
		return Result{}, err
	}
	html, err := execute("study", p)
	if err != nil {
		return Result{}, err
	}
	if study.RunPages {
		if res.RunPages, err = writeRunPages(dir, study.Runs, study.Generated); err != nil {
			return Result{}, err
		}
	}
	res.Index = filepath.Join(dir, "index.html")
	return res, outfile.Write(res.Index, html)
}

// pixelsPerPoint of a PNG file: high enough for dense screens, but lower for figures of many
// panels, whose pixels would take most of a page's time.
func pixelsPerPoint(f chart.Figure) float64 {
	if len(f.Panels) > 12 {
		return 1
	}
	return 2
}

// pictureFormat is a file of a picture: drawn is it without what says nothing, f all of it.
type pictureFormat struct {
	ext   string
	write func(w io.Writer, f, drawn chart.Figure) error
}

var pictureFormats = []pictureFormat{
	{".svg", func(w io.Writer, _, drawn chart.Figure) error { return chart.WriteSVG(w, drawn, chart.Auto) }},
	{".png", func(w io.Writer, _, drawn chart.Figure) error {
		return chart.WritePNG(w, drawn, chart.Light, pixelsPerPoint(drawn))
	}},
	{".csv", func(w io.Writer, f, _ chart.Figure) error { return chart.WriteCSV(w, f) }},
	{".json", func(w io.Writer, f, _ chart.Figure) error { return chart.WriteJSON(w, f) }},
}

// writePictures draws into dir/figures, on all cores, and returns the paths without extensions, or the first error.
func writePictures(dir string, pictures []figure.Picture) (paths []string, err error) {
	dir = filepath.Join(dir, "figures")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	work := make(chan figure.Picture)
	errs := make(chan error, len(pictures))
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for p := range work {
				errs <- writePicture(dir, p.Figure)
			}
		})
	}
	for _, p := range pictures {
		paths = append(paths, filepath.Join(dir, p.ID))
		work <- p
	}
	close(work)
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
}

func writePicture(dir string, f chart.Figure) error {
	drawn := f.Telling()
	for _, format := range pictureFormats {
		var b bytes.Buffer
		if err := format.write(&b, f, drawn); err != nil {
			return err
		}
		if err := outfile.Write(filepath.Join(dir, f.ID+format.ext), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
