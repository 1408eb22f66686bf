package page

import (
	"path/filepath"

	"collapse/internal/format"
	"collapse/internal/outfile"
)

// mostBytes is how large a page may grow by its figures. Those beyond stand on a second page beside it, and the page links to them.
const mostBytes = 900_000

// moreName is the file of the second page.
const moreName = "more.html"

// morePage is what the template of the second page prints.
type morePage struct {
	Title   string
	Figures []shown
	Made    string
}

// arrange decides which figures stand on a page, in the order of their importance: the first always, the others while there is room,
// those of last never. It marks the rest, and returns it. Bare is how large the page is without figures.
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

// writeMore makes the second page, if there is anything on it, and returns its path.
func writeMore(dir, title, made string, rest []shown) (string, error) {
	if len(rest) == 0 {
		return "", nil
	}
	html, err := execute("more", morePage{Title: title, Figures: rest, Made: made})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, moreName)
	return path, outfile.Write(path, html)
}

// Drawings says how many panels a figure has.
func (f shown) Drawings() string { return format.Count(len(f.Panels), "drawing") }
