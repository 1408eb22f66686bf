package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"
)

// policy is the content-security policy of every answer: nothing from other sites, no inline scripts.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// maxURL bounds a request's path and query.
const maxURL = 8 << 10

// guard checks every request before it reaches a handler.
func (s *Server) guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	checked := cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("X-Frame-Options", "DENY")
		switch {
		case !s.gate.knowsHost(r.Host):
			s.plain(w, http.StatusMisdirectedRequest, "this server does not answer to the name "+clip(r.Host)+"; open "+s.publicURL()+", or start it with --host "+clip(r.Host))
		case len(r.RequestURI) > maxURL:
			s.plain(w, http.StatusRequestURITooLong, "the address is too long")
		case foreign(r):
			s.plain(w, http.StatusForbidden, "a page of another site asked for this; open the address yourself instead")
		case s.gate.token != "" && !s.admitted(w, r):
		default:
			if s.door != nil { // a handler alone has none
				defer s.door.serving(r)()
			}
			checked.ServeHTTP(w, r)
		}
	})
}

// publicURL is the server's address without its token.
func (s *Server) publicURL() string {
	u, _, _ := strings.Cut(s.URL(), "?")
	return u
}

func clip(s string) string { return fmt.Sprintf("%.80q", s) }

// foreign recognises requests that a page of another origin makes: scripts, pictures, fetches. Following a link is allowed: it
// shows the reader a page that the linking site cannot read.
func foreign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		return err != nil || u.Host != r.Host
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && !(r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate")
}

// admitted lets a browser with the cookie pass, accepts a token from a link or the form, and otherwise asks for it.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request) bool {
	if given := r.URL.Query().Get("token"); given != "" && r.Method == http.MethodGet {
		if s.gate.admits(given) {
			s.gate.give(w, s.base)
			s.redirectWithout(w, r, "token")
			return false
		}
		s.ask(w, "That token is not this server's.")
		return false
	}
	if s.gate.shows(r) {
		return true
	}
	if strings.HasPrefix(r.URL.Path, "/assets/") && (strings.HasSuffix(r.URL.Path, ".css")) {
		return true // the form's style sheet
	}
	s.ask(w, "")
	return false
}

// redirectWithout sends the browser to the same page without a query field.
func (s *Server) redirectWithout(w http.ResponseWriter, r *http.Request, field string) {
	q := r.URL.Query()
	q.Del(field)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, localPath(r.URL.EscapedPath()+"?"+q.Encode()), http.StatusSeeOther)
}

// localPath is an address as path and query of a page of this server, or the first page if it is anything else: browsers drop control
// characters from an address and read a backslash as a slash, so "//evil" is not the only form that leads to another host.
func localPath(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") ||
		strings.Contains(address+u.Path, `\`) || strings.ContainsFunc(address+u.Path, unicode.IsControl) {
		return "/"
	}
	to := url.URL{Path: path.Clean(u.Path), RawQuery: u.RawQuery}
	return to.String()
}

// ask shows the form for the token.
func (s *Server) ask(w http.ResponseWriter, problem string) {
	w.Header().Set("Cache-Control", "no-store")
	s.write(w, http.StatusUnauthorized, "token", tokenPage{frame: frame{Title: "Token needed", Bare: true}, Problem: problem})
}

type tokenPage struct {
	frame
	Problem string
}

// plain answers with one line of text.
func (s *Server) plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, "collapse: "+text, status)
}
