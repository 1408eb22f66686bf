package page

import (
	"path/filepath"

	"collapse/internal/chart"
	"collapse/internal/figure"
	"collapse/internal/judge"
	"collapse/internal/outfile"
	"collapse/internal/theoryfig"
)

// Theory is a page about the theory's models: a recipe's, or one for a single solved setting. Its layout is that of recipes that
// train networks, without runs.
type Theory struct {
	ID      string
	Title   string
	Source  string // which figure or theorem of which paper
	Caption string // what the paper shows
	Claims  []judge.Claim
	Facts   []theoryfig.Fact
	Notes   []string
	Command string // remakes the page
	Figures []chart.Figure
}

// Write makes dir/index.html and dir/figures/<id>.svg, .png, .csv and .json of every figure, and
// returns the page's path.
func (p *Theory) Write(dir string) (string, error) {
	var pictures []figure.Picture
	data := recipePage{Recipe: Recipe{ID: p.ID, Title: p.Title, Source: p.Source, Caption: p.Caption, Notes: p.Notes, Commands: []string{p.Command}},
		Judged: p.Claims, Facts: p.Facts}
	for _, f := range p.Figures {
		drawn := figure.Picture{Figure: f}
		pictures, data.Figures = append(pictures, drawn), append(data.Figures, prepare(drawn))
	}
	if _, err := writePictures(dir, pictures); err != nil {
		return "", err
	}
	html, err := execute("recipe", data)
	if err != nil {
		return "", err
	}
	index := filepath.Join(dir, "index.html")
	return index, outfile.Write(index, html)
}

// Files lists the files that Write writes, by names below its folder.
func (p *Theory) Files() []string {
	files := []string{"index.html"}
	for _, f := range p.Figures {
		for _, format := range pictureFormats {
			files = append(files, filepath.Join("figures", f.ID+format.ext))
		}
	}
	return files
}
