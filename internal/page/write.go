package page

import (
	"io"
	"runtime"
	"sync"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/outfile"
)

// Kind is what folders hold that this package writes.
const Kind = "a page"

const (
	indexName  = "index.html"
	figuresDir = "figures"
)

// Write makes the page of a study, index.html in a folder, and figures/<id>.svg, .png, .csv and .json for
// each of its pictures. With a single run it is the page of that run. All files are complete before
// any takes its place (see package outfile), the page last, so an open page always finds its figures.
//
// The same runs and words give the same bytes. The folder is created if missing; other files in it stay.
func Write(to *outfile.Folder, study Study) (res Result, err error) {
	err = to.Write(func(files *outfile.Files) error {
		res, err = write(files, study)
		return err
	})
	return res, err
}

func write(files *outfile.Files, study Study) (Result, error) {
	p, pictures, res, err := build(study)
	if err != nil {
		return Result{}, err
	}
	if res.Figures, err = writePictures(files, pictures); err != nil {
		return Result{}, err
	}
	if p.Asked != nil {
		if res.Tables, err = writeTables(files, p.Asked.Tables); err != nil {
			return Result{}, err
		}
	}
	shownFigures, last := p.figures()
	rest, err := arrange(func() (int, error) { html, err := execute("study", p); return len(html), err }, shownFigures, last)
	if err != nil {
		return Result{}, err
	}
	if res.More, err = writeMore(files, p.Title, p.Made, rest); err != nil {
		return Result{}, err
	}
	html, err := execute("study", p)
	if err != nil {
		return Result{}, err
	}
	if study.RunPages {
		if res.RunPages, err = writeRunPages(files, study.Runs, study.Generated); err != nil {
			return Result{}, err
		}
	}
	res.Index = files.Path(indexName)
	return res, files.PutBytes(indexName, html)
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

// writePictures draws into figures, on all cores, and returns the paths without extensions, or the first error.
func writePictures(files *outfile.Files, pictures []figure.Picture) (paths []string, err error) {
	files = files.Below(figuresDir)
	work := make(chan figure.Picture)
	errs := make(chan error, len(pictures))
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for p := range work {
				errs <- writePicture(files, p.Figure)
			}
		})
	}
	for _, p := range pictures {
		paths = append(paths, files.Path(p.ID))
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

func writePicture(files *outfile.Files, f chart.Figure) error {
	drawn := f.Telling()
	for _, format := range pictureFormats {
		if err := files.Put(f.ID+format.ext, func(w io.Writer) error { return format.write(w, f, drawn) }); err != nil {
			return err
		}
	}
	return nil
}
