package serve

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

var actions = []Action{Cancel, Resume, Retry}

// controlRun and controlStudy carry out what a form asks for and return to its page.
func (s *Server) controlRun(w http.ResponseWriter, r *http.Request) error {
	run, _, err := s.find(r.PathValue("hash"))
	if err != nil {
		return err
	}
	do, err := action(r)
	if err != nil {
		return err
	}
	if err := s.opt.Control.Run(r.Context(), do, run.Hash); err != nil {
		return statusError{http.StatusConflict, err}
	}
	http.Redirect(w, r, "/run/"+run.Hash, http.StatusSeeOther)
	return nil
}

// mostForm bounds what a form about a run or a study may send, in bytes.
const mostForm = 4 << 10

func smallForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil {
		return badRequest("a form about a run or a study has at most %d bytes", mostForm)
	}
	return nil
}

// remarkOnStudy writes what its reader says about a study, and returns to its page.
func (s *Server) remarkOnStudy(w http.ResponseWriter, r *http.Request) error {
	if err := smallForm(w, r); err != nil {
		return err
	}
	name := r.URL.Query().Get("study")
	words, given := r.PostForm["remark"]
	if name == "" || !given {
		return badRequest("a study is named by ?study=…, and the form has a remark")
	}
	if err := s.opt.Control.Remark(name, strings.TrimSpace(words[0])); err != nil {
		return badRequest("%w", err)
	}
	http.Redirect(w, r, "/study?"+url.Values{"study": {name}}.Encode(), http.StatusSeeOther)
	return nil
}

// describeRun writes a label or a tag, or removes a tag, and returns to the run's page.
func (s *Server) describeRun(w http.ResponseWriter, r *http.Request) error {
	run, _, err := s.find(r.PathValue("hash"))
	if err != nil {
		return err
	}
	if err := smallForm(w, r); err != nil {
		return err
	}
	var as Description
	for name, field := range map[string]**string{"label": &as.Label, "tag": &as.Tag, "untag": &as.Untag} {
		if values, given := r.PostForm[name]; given {
			words := strings.TrimSpace(values[0])
			*field = &words
		}
	}
	if as == (Description{}) {
		return badRequest("a form about a run has a label, a tag or untag")
	}
	if err := s.opt.Control.Describe(run.Hash, as); err != nil {
		return badRequest("%w", err)
	}
	http.Redirect(w, r, "/run/"+run.Hash, http.StatusSeeOther)
	return nil
}

func (s *Server) controlStudy(w http.ResponseWriter, r *http.Request) error {
	name := r.URL.Query().Get("study")
	do, err := action(r)
	if err != nil {
		return err
	}
	if name == "" {
		return badRequest("a study is named by ?study=…")
	}
	if err := s.opt.Control.Study(r.Context(), do, name); err != nil {
		return statusError{http.StatusConflict, err}
	}
	http.Redirect(w, r, "/study?"+url.Values{"study": {name}}.Encode(), http.StatusSeeOther)
	return nil
}

func action(r *http.Request) (Action, error) {
	do := Action(r.PathValue("action"))
	if !slices.Contains(actions, do) {
		return "", notFound("a run or study can be cancelled, resumed or retried, not %s", clip(string(do)))
	}
	return do, nil
}
