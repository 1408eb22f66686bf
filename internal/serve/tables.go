package serve

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/page"
)

// shownTable is a table that a study's file asks for.
type shownTable struct {
	Title, Caption string
	Table          format.Table
	number         int
	query          string
}

func showTables(tables []judge.Tabled, query url.Values) (out []shownTable) {
	for i, t := range tables {
		out = append(out, shownTable{t.Title, t.Caption, t.Shown(), i + 1, query.Encode()})
	}
	return out
}

// URL is where the table is a file of that form.
func (t shownTable) URL(form string) string {
	return "/study/tables/" + strconv.Itoa(t.number) + "." + form + "?" + t.query
}

// studyTable answers with the table of a study's file that has this number, from 1: /study/tables/1.tex?study=NAME.
func (s *Server) studyTable(w http.ResponseWriter, r *http.Request) error {
	file := r.PathValue("file")
	ext := path.Ext(file)
	write := page.TableWriters[ext]
	if write == nil {
		return notFound("a table has the forms .tex and .csv, not %q", clip(ext))
	}
	found, err := s.studyAsked(r.URL.Query())
	if err != nil {
		return err
	}
	all, err := s.judge(r.URL.Query(), found.runs)
	if err != nil {
		return err
	}
	for _, j := range all { // only what the study's file asks has tables
		for i, t := range j.Tables {
			if strconv.Itoa(i+1) != strings.TrimSuffix(file, ext) {
				continue
			}
			var b bytes.Buffer
			if err := write(&b, t); err != nil {
				return err
			}
			h := w.Header()
			h.Set("Content-Type", map[string]string{".tex": "text/plain; charset=utf-8", ".csv": "text/csv; charset=utf-8"}[ext])
			h.Set("Cache-Control", "no-cache")
			h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "collapse-table-" + file}))
			w.Write(b.Bytes()) // a browser that has left is not our error
			return nil
		}
	}
	return notFound("this study has no table %s", clip(file))
}
