package serve

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// A server below a path of another one, such as /collapse of a proxy, answers with and without that path, for a proxy may take it off.
// Its pages are written as if it had none: base.html adds it to what they refer to, and base.redirects to where they send a browser.
// Scripts read it off the page.
type base string

var baseRule = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// check refuses what is no path.
func (b base) check() error {
	if b != "" && !baseRule.MatchString(string(b)) {
		return fmt.Errorf("serve: --base is %q, wanted a path such as /collapse", string(b))
	}
	return nil
}

// rooted finds the attributes of a page that refer to another of the server. Templates escape quotes in texts, so no text looks like one.
var rooted = regexp.MustCompile(`\b(href|src|action|formaction|data-json|data-summary|data-film)="/`)

// html is a page whose references begin with the path.
func (b base) html(page []byte) []byte {
	if b == "" {
		return page
	}
	return rooted.ReplaceAll(page, []byte(`${1}="`+string(b)+`/`))
}

// below serves what lies below the path, and what comes without it.
func (b base) below(next http.Handler) http.Handler {
	if b == "" {
		return next
	}
	stripped := http.StripPrefix(string(b), next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = &redirecting{ResponseWriter: w, base: b}
		switch {
		case r.URL.Path == string(b):
			http.Redirect(w, r, "/", http.StatusSeeOther)
		case strings.HasPrefix(r.URL.Path, string(b)+"/"):
			stripped.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// redirecting sends browsers to addresses with the path.
type redirecting struct {
	http.ResponseWriter
	base base
	away bool
}

// WriteHeader adds the path to a redirection within the server.
func (w *redirecting) WriteHeader(status int) {
	if to := w.Header().Get("Location"); strings.HasPrefix(to, "/") {
		w.Header().Set("Location", string(w.base)+to)
		w.away = true
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write leaves out the text of a redirection, whose link has no path.
func (w *redirecting) Write(b []byte) (int, error) {
	if w.away {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *redirecting) Unwrap() http.ResponseWriter { return w.ResponseWriter }
