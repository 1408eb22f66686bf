package page

import (
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/theoryfig"
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

// Write makes index.html and figures/<id>.svg, .png, .csv and .json of every figure, and
// returns the page's path.
func (p *Theory) Write(to *outfile.Folder) (index string, err error) {
	err = to.Write(func(files *outfile.Files) error {
		index = files.Path(indexName)
		return p.write(files)
	})
	return index, err
}

func (p *Theory) write(files *outfile.Files) error {
	var pictures []figure.Picture
	data := recipePage{Recipe: Recipe{ID: p.ID, Title: p.Title, Source: p.Source, Caption: p.Caption, Notes: p.Notes, Commands: []string{p.Command}},
		Judged: p.Claims, Facts: p.Facts}
	for _, f := range p.Figures {
		drawn := figure.Picture{Figure: f}
		pictures, data.Figures = append(pictures, drawn), append(data.Figures, prepare(drawn))
	}
	if _, err := writePictures(files, pictures); err != nil {
		return err
	}
	html, err := execute("recipe", data)
	if err != nil {
		return err
	}
	return files.PutBytes(indexName, html)
}
