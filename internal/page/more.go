package page

import (
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/outfile"
)

// mostBytes bounds the size of a page with its figures. Further figures go to a second page, which the first links to.
const mostBytes = 900_000

// moreName is the file of the second page.
const moreName = "more.html"

// morePage is the data of the second page's template.
type morePage struct {
	Title   string
	Figures []shown
	Made    string
}

// arrange decides which figures go on a page, in order of importance: the first always, the others while there is room, those of
// last never. It marks and returns the rest. Bare is the size of the page without figures.
func arrange(bare func() (int, error), figures, last []*shown) ([]shown, error) {
	for _, f := range append(append([]*shown(nil), figures...), last...) {
		f.Elsewhere = true
	}
	size, err := bare()
	if err != nil {
		return nil, err
	}
	var rest []shown
	for i, f := range figures {
		f.Elsewhere = false
		html, err := execute("figure", f)
		if err != nil {
			return nil, err
		}
		if i > 0 && size+len(html) > mostBytes {
			rest = append(rest, *f)
			f.Elsewhere = true
			continue
		}
		size += len(html)
	}
	for _, f := range last {
		rest = append(rest, *f)
	}
	for i := range rest {
		rest[i].Elsewhere = false
	}
	return rest, nil
}

// writeMore writes the second page, unless it would be empty, and returns its path.
func writeMore(files *outfile.Files, title, made string, rest []shown) (string, error) {
	if len(rest) == 0 {
		return "", nil
	}
	html, err := execute("more", morePage{Title: title, Figures: rest, Made: made})
	if err != nil {
		return "", err
	}
	return files.Path(moreName), files.PutBytes(moreName, html)
}

// Drawings says how many panels a figure has.
func (f shown) Drawings() string { return format.Count(len(f.Panels), "drawing") }
