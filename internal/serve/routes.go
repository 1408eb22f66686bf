package serve

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/zipped"
)

//go:generate go run ../zipped/gen templates.zip.br templates/*.html

//go:embed templates.zip.br
var templateFiles []byte

// templates are those of saved pages, with the live pages' own frame and lists in place of theirs. They are parsed on the first request
// for a page: most calls of the program serve none.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(page.Parts().Funcs(template.FuncMap{
		"short":   func(hash string) string { return fmt.Sprintf("%.12s", hash) },
		"percent": func(part, whole int) string { return fmt.Sprintf("%.4g%%", 100*float64(part)/float64(max(whole, 1))) },
		"when":    when,
		"plain":   plainList,
		"about":   about,

		"explained": explained,
	}).ParseFS(zipped.Files(templateFiles), "templates/*.html"))
})

// Handler is everything the server answers, behind its guard.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /assets/{file}", s.assets())
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /theme", s.chooseTheme)
	answer := func(pattern string, show func(w http.ResponseWriter, r *http.Request) error) {
		mux.Handle(pattern, s.page(s.busy, show))
	}
	apart := func(pattern string, show func(w http.ResponseWriter, r *http.Request) error) { // from the lab
		mux.Handle(pattern, s.page(s.aside, show))
	}
	answer("GET /{$}", s.studiesPage)
	answer("GET /study", s.studyPage)
	answer("GET /study/summary", s.studySummary)
	answer("GET /study/figures/{file}", s.figures(s.studyFigures))
	answer("GET /study/tables/{file}", s.studyTable)
	answer("GET /run/{hash}", s.runPage)
	answer("GET /run/{hash}/news", s.runNews)
	mux.HandleFunc("GET /run/{hash}/finding", func(w http.ResponseWriter, r *http.Request) { s.show(w, r, s.runHeadline) }) // pages do not wait for it
	answer("GET /run/{hash}/figures/{file}", s.figures(s.runFigures))
	answer("GET /run/{hash}/features/{file}", s.figures(s.featureFigures))
	answer("GET /compare", s.comparePage)
	answer("GET /compare/figures/{file}", s.figures(s.compareFigures))
	apart("GET /measure", s.measurePage)
	mux.HandleFunc("POST /measure", func(w http.ResponseWriter, r *http.Request) { s.show(w, r, s.measureUpload) }) // pages do not wait for it
	apart("GET /measure/example.npz", s.exampleFile)
	apart("GET /measure/{token}", s.measuredPage)
	apart("GET /measure/{token}/figures/{file}", s.figures(s.measuredFigures))
	apart("GET /words", s.wordsPage)
	apart("GET /words/figures/{file}", s.figures(func(*http.Request) ([]figure.Picture, error) { return figure.Words(), nil }))
	apart("GET /theory", s.theoryPage)
	apart("GET /theory/figures/{file}", s.figures(s.theoryFigures))
	if s.opt.Control != nil {
		answer("POST /run/{hash}/describe", s.describeRun)
		answer("POST /run/{hash}/{action}", s.controlRun)
		answer("POST /study/remark", s.remarkOnStudy)
		answer("POST /study/{action}", s.controlStudy)
	}
	apart("GET /", func(http.ResponseWriter, *http.Request) error { return notFound("there is no such page") })
	return s.base.below(s.guard(mux))
}

// statusError is an error with its HTTP status.
type statusError struct {
	status int
	error
}

func (e statusError) Unwrap() error { return e.error }

func notFound(format string, args ...any) error {
	return statusError{http.StatusNotFound, fmt.Errorf(format, args...)}
}

func badRequest(format string, args ...any) error {
	return statusError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

// statusOf is the HTTP status of an error.
func statusOf(err error) int {
	var known statusError
	var missing *store.NotFoundError
	var several *store.AmbiguousError
	var gone goneError
	switch {
	case errors.As(err, &known):
		return known.status
	case errors.As(err, &missing), errors.As(err, &several):
		return http.StatusNotFound
	case errors.As(err, &gone):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// frame is the part of every page around its content.
type frame struct {
	Title   string
	Section string // of the navigation
	Bare    bool   // without navigation
	Theme   string // "", "light" or "dark", as chosen
	Lab     string
	Live    string // what the page follows: "" nothing, "list", or a run's hash
	Back    string // this page, for links that return to it
	Control bool
	Base    string // the path that the server lies below, for scripts
}

func (s *Server) frame(r *http.Request, section, title string) frame {
	return frame{Title: title, Section: section, Theme: theme(r), Lab: s.opt.Lab, Back: r.URL.RequestURI(), Control: s.opt.Control != nil, Base: s.opt.Base}
}

// write fills a template and sends the complete page or an error.
func (s *Server) write(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		s.opt.Log("serve: page %s: %v", name, err)
		http.Error(w, "collapse: this page could not be made", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache")
	}
	w.WriteHeader(status)
	w.Write(s.base.html(b.Bytes())) // a browser that has left is not our error
}

type failPage struct {
	frame
	Status  int
	Problem string
}

// fail answers with a readable error: a page to a browser's address bar, a line to scripts.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, err error) {
	if status == http.StatusInternalServerError {
		s.opt.Log("serve: %q: %v", r.URL.Path, err)
		var bug *panicError
		if errors.As(err, &bug) {
			err = errors.New("this page could not be made because of a fault in the program; its log says more")
		}
	}
	var busy busyError
	if errors.As(err, &busy) {
		w.Header().Set("Retry-After", strconv.Itoa(int(busy.retry.Seconds())))
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.plain(w, status, err.Error())
		return
	}
	f := s.frame(r, "", http.StatusText(status))
	if status == http.StatusServiceUnavailable {
		f.Live = "list" // the page returns with the lab
	}
	w.Header().Set("Cache-Control", "no-store")
	s.write(w, status, "fail", failPage{f, status, err.Error()})
}

const themeCookie = "collapse-theme"

func theme(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// themeLink is a choice of colours; To is "" for those of the system.
type themeLink struct {
	To, Name string
	Chosen   bool
}

// Themes are the choices of colours.
func (f frame) Themes() []themeLink {
	return []themeLink{{"", "System", f.Theme == ""}, {"light", "Light", f.Theme == "light"}, {"dark", "Dark", f.Theme == "dark"}}
}

// chooseTheme saves a theme and returns to the page it was chosen on; scripts change it without this request.
func (s *Server) chooseTheme(w http.ResponseWriter, r *http.Request) {
	to := r.URL.Query().Get("to")
	if to != "light" && to != "dark" {
		to = ""
	}
	http.SetCookie(w, &http.Cookie{Name: themeCookie, Value: to, Path: string(s.base) + "/", SameSite: http.SameSiteLaxMode, MaxAge: 365 * 24 * 3600})
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, localPath(r.URL.Query().Get("back")), http.StatusSeeOther)
}

// when writes a time for people.
func when(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.Local().Format("2 Jan 2006, 15:04:05")
}

// take waits for one of the places of a channel.
func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return statusError{http.StatusServiceUnavailable, ctx.Err()}
	}
}
