package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"regexp"
	"sync"
	"sync/atomic"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/zipped"
)

//go:generate go run ../zipped/gen pages.zip.br *.html collapse.js

//go:embed pages.zip.br
var packed []byte

// Sources are the templates and the script of pages.
var Sources = sync.OnceValue(func() fs.FS { return zipped.Files(packed) })

// templates are every page and the parts they share (parts.html), parsed when the first page is made: most commands make
// none.
var templates = sync.OnceValue(Parts)

// Parts returns this package's templates, for pages of others that share them.
func Parts() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"rules":    func() any { return judge.Rules },
		"charts":   func() template.CSS { return template.CSS(chart.StyleSheet()) },
		"bysource": bySource,
		"place":    place,
		"words":    wordFigures,
		"signs":    signs,
		// explained is where a word is explained; the live page has such a place, a page of one file has a section of its own
		"explained": func(any) string { return "" },
	}).ParseFS(Sources(), "*.html"))
}

var rendered atomic.Int64

// Rendered is how many templates this process has executed; tests see by it that nothing was rendered.
func Rendered() int64 { return rendered.Load() }

// execute renders a page.
func execute(name string, data any) ([]byte, error) {
	rendered.Add(1)
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return b.Bytes(), nil
}

// wordFigures are the drawings of what the words mean.
func wordFigures() (out []shown) {
	for _, p := range figure.Words() {
		f := prepare(p)
		f.Alone = true
		out = append(out, f)
	}
	return out
}

var subscript = regexp.MustCompile(`(\pL)_([A-Z]+)`)

// signs is a text with real subscripts for those that Unicode lacks, such as that of λ_W.
func signs(text string) template.HTML {
	return template.HTML(subscript.ReplaceAllString(template.HTMLEscapeString(text), "$1<sub>$2</sub>"))
}
