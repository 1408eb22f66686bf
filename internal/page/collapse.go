package page

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"io/fs"
	"math"
	"sync"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/outfile"
)

// Collapse is a run that a page shows as it collapses, epoch by epoch.
type Collapse struct {
	Title     string // "Collapsed at epoch 34"
	Lead      string
	Dir       string // of the run
	Epoch     int    // of collapse; 0: none
	Dials     map[int][]measurement.Dial
	Errors    map[string]float64 // standard errors of the last dials
	Unusual   []string
	More      []string // commands
	Run       string
	Generated time.Time
}

var collapseScript = sync.OnceValue(func() string {
	text, err := fs.ReadFile(Sources(), "collapse.js")
	if err != nil {
		panic("page: " + err.Error()) // the program lacks its own file
	}
	return string(text)
})

// collapsePage is what the template prints.
type collapsePage struct {
	Collapse
	Images string // where images come from; and the one script
	Script template.JS
	Dials  []measurement.ShownDial
	Film   film
	Still  template.HTML // of the last epoch, for readers without scripts
	Gram   shown
	Made   string
}

// film is what the script draws.
type film struct {
	Classes []int   `json:"classes"` // of the samples
	Moments []frame `json:"moments"`
}

// frame is an epoch: coordinates of means and samples in thousandths of the mean length of the class means as seen, three to a point, and
// where the dials stand.
type frame struct {
	Epoch     int       `json:"epoch"`
	Collapsed bool      `json:"collapsed"`
	Means     []int     `json:"means"`
	Samples   []int     `json:"samples"`
	At        []float64 `json:"at"`
	Values    []string  `json:"values"`
}

const filmedSamples = 25 // of a class, so that the page stays small

// Write makes index.html in a folder, which needs no other file and no network.
func (c *Collapse) Write(to *outfile.Folder) (index string, err error) {
	opened, err := figure.OpenFilm(c.Dir)
	if err != nil {
		return "", err
	}
	p := collapsePage{Collapse: *c, Script: template.JS(collapseScript()), Made: format.Time(c.Generated)}
	hash := sha256.Sum256([]byte(collapseScript()))
	p.Images = "data:; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	if err := p.shoot(opened); err != nil {
		return "", err
	}
	last := opened.Epochs[len(opened.Epochs)-1]
	pictures, err := opened.Pictures(last)
	if err != nil {
		return "", err
	}
	scene := chart.Inline(pictures[0].Figure)
	p.Still = template.HTML(scene.Panels[0])
	for _, picture := range pictures {
		if picture.ID == "gram" {
			picture.Panels = picture.Panels[:1] // cosines, whose scale is always −1 to 1
			picture.Caption = "Cosines of the class means around their centre: 1 on the diagonal and, in a simplex of K classes, −1/(K−1) everywhere else. The scale is always −1 to 1."
			p.Gram = prepareAlone([]figure.Picture{picture})[0]
		}
	}
	for _, d := range c.Dials[int(last)] {
		p.Dials = append(p.Dials, d.Shown(c.Errors[d.Key]))
	}
	html, err := execute("collapse", p)
	if err != nil {
		return "", err
	}
	err = to.Write(func(files *outfile.Files) error {
		index = files.Path(indexName)
		return files.PutBytes(indexName, html)
	})
	return index, err
}

// shoot takes every epoch of the film.
func (p *collapsePage) shoot(from *figure.Film) error {
	for _, epoch := range from.Epochs {
		scene, err := from.Scene(epoch)
		if err != nil {
			return err
		}
		f := frame{Epoch: int(epoch), Collapsed: p.Epoch > 0 && int(epoch) >= p.Epoch}
		var classes []int
		scale := 1.0
		for _, s := range scene.Panels[0].Series {
			if s.ID == "means" {
				scale = 1000 / meanLength(s)
				f.Means = thousandths(s, len(s.X), scale)
			}
		}
		for k, s := range scene.Panels[0].Series {
			if s.Marker != chart.Dot {
				continue
			}
			n := min(filmedSamples, len(s.X))
			f.Samples = append(f.Samples, thousandths(s, n, scale)...)
			for range n {
				classes = append(classes, k)
			}
		}
		for _, d := range p.Collapse.Dials[int(epoch)] {
			shown := d.Shown(0)
			f.At, f.Values = append(f.At, shown.At), append(f.Values, shown.Value)
		}
		p.Film.Classes, p.Film.Moments = classes, append(p.Film.Moments, f)
	}
	return nil
}

// meanLength is the root mean square of the points' distances from the origin.
func meanLength(s chart.Series) float64 {
	sum := 0.0
	for i := range s.X {
		x, y, z := point(s, i)
		sum += x*x + y*y + z*z
	}
	if sum == 0 {
		return 1
	}
	return math.Sqrt(sum / float64(len(s.X)))
}

func point(s chart.Series, i int) (x, y, z float64) {
	if len(s.Z) > 0 {
		z = s.Z[i]
	}
	return s.X[i], s.Y[i], z
}

func thousandths(s chart.Series, n int, scale float64) []int {
	const most = 20_000 // what is further away is out of sight
	out := make([]int, 0, 3*n)
	for i := range n {
		x, y, z := point(s, i)
		for _, v := range []float64{x, y, z} {
			out = append(out, int(math.Round(min(most, max(-most, v*scale)))))
		}
	}
	return out
}
