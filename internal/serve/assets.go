package serve

import (
	"bytes"
	_ "embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/zipped"
)

//go:generate go run ../zipped/gen assets.zip.br assets/*.js assets/*.css assets/*.js.gz

//go:embed assets.zip.br
var assetFiles []byte

// assets serves the embedded files; their names carry no version, so browsers ask each time and get 304.
func (s *Server) assets() http.Handler {
	all, started := loadAssets(), time.Now()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := all[r.PathValue("file")]
		if !ok {
			s.plain(w, http.StatusNotFound, "there is no such file")
			return
		}
		h := w.Header()
		h.Set("Content-Type", a.kind)
		h.Set("Cache-Control", "no-cache")
		h.Set("Vary", "Accept-Encoding")
		body := a.plain
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = a.packed
		}
		http.ServeContent(w, r, "", started, bytes.NewReader(body))
	})
}

type asset struct {
	kind          string
	plain, packed []byte
}

// loadAssets unpacks and packs the files once for all servers of the process.
var loadAssets = sync.OnceValue(func() map[string]asset {
	all := map[string]asset{}
	kinds := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
	files := zipped.Files(assetFiles)
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		panic("serve: no assets are embedded")
	}
	for _, e := range entries {
		text, err := fs.ReadFile(files, "assets/"+e.Name())
		if err != nil {
			panic("serve: an embedded file cannot be read: " + err.Error())
		}
		if e.Name() == "page.css" {
			text = append([]byte(styleSheet()), text...)
		}
		all[e.Name()] = asset{kinds[path.Ext(e.Name())], text, zipped.Pack(text)}
	}
	return all
})

// styleSheet is the style sheet of reports, with themes that a reader can choose over the system's.
func styleSheet() string {
	style := page.PageStyle()
	light := "{" + style.Light + ";" + chart.Declarations(chart.Light) + "}\n"
	dark := "{" + style.Dark + ";" + chart.Declarations(chart.Dark) + "}\n"
	return ":root{" + chart.HeatDeclaration() + "}:root" + light + "@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light])" + dark + "}\n@media screen{:root[data-theme=dark]" + dark + "}\n" + style.Rules
}
