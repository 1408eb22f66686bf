package page

import (
	"io"
	"runtime"
	"sync"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/outfile"
)

// Kind is what folders hold that this package writes.
const Kind = "a page"

const (
	indexName  = "index.html"
	figuresDir = "figures"
)

// writeHTML writes a page around its figures, which are prepared, a second page with those for which there is no room, and each run's own
// page if found has them; last are the figures that go to the second page in any case.
func writeHTML(files *outfile.Files, template, title, made string, page any, figures, last []*shown, of findings.Common, res *Written) error {
	rest, err := arrange(func() (int, error) { html, err := execute(template, page); return len(html), err }, figures, last)
	if err != nil {
		return err
	}
	if res.More, err = writeMore(files, title, made, rest); err != nil {
		return err
	}
	html, err := execute(template, page)
	if err != nil {
		return err
	}
	if of.OfRuns != nil {
		if res.RunPages, err = writeRunPages(files, of.OfRuns); err != nil {
			return err
		}
	}
	res.Index = files.Path(indexName)
	return files.PutBytes(indexName, html)
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
