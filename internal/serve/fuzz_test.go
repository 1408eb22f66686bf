package serve

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzAddress asks for pages by any path and query: none fails inside, and none repeats a tag from its address.
func FuzzAddress(f *testing.F) {
	dir := demoLab(f)
	handler, hash := startTest(f, Options{Lab: dir}).Handler(), someRun(f, dir)
	for _, address := range [][2]string{
		{"/", "filter=loss.kind%3D%3D%22ce%22&sort=-nc1_pinv&page=3"}, {"/", "filter=" + url.QueryEscape(`"><zq onload=x>`)}, {"/study", "name=demo"}, {"/study", "name=" + url.QueryEscape("<zq>")},
		{"/run/" + hash, "epoch=2"}, {"/run/" + hash, "epoch=-9999999999999999999&split=<zq>"}, {"/run/" + hash + "/figures/curves.svg", ""}, {"/run/../lab.sqlite", ""}, {"/run/<zq>", ""},
		{"/compare", "runs=" + hash + "," + hash}, {"/compare", "group=%zz&x=<zq>"}, {"/measure/0123456789abcdef", ""}, {"/words", "q=<zq>"}, {"/assets/..%2f..%2fgo.mod", ""},
		{"/theme", "back=//evil.example"}, {"/theme", `back=/\evil.example`}, {"/theme", "back=https://evil.example"}, {"0", "to=://evil.example\x05%"},
		{"/study/summary", "name=\x00"}, {"/" + strings.Repeat("a/", 2000), strings.Repeat("&a=b", 2000)},
	} {
		f.Add(address[0], address[1])
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		if path == "/events" || strings.HasPrefix(path, "/theory") {
			return // one stays open, the other computes for seconds
		}
		r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path, RawQuery: query}, Host: "127.0.0.1:1", RemoteAddr: "127.0.0.1:2", Header: http.Header{}, Body: http.NoBody}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r.WithContext(t.Context()))
		if answer.Code >= 500 {
			t.Errorf("%q?%q: status %d: %.300s", path, query, answer.Code, answer.Body)
		}
		plain := strings.HasPrefix(answer.Header().Get("Content-Type"), "text/plain") && answer.Header().Get("X-Content-Type-Options") == "nosniff"
		if body := answer.Body.String(); !plain && strings.Contains(body, "<zq") {
			t.Errorf("%q?%q: the tag comes back: %.200s", path, query, body[strings.Index(body, "<zq"):])
		}
		if to := answer.Header().Get("Location"); leaves(to) {
			t.Errorf("%q?%q: sends to %q", path, query, to)
		}
	})
}

// leaves reports whether a browser that is sent to an address asks another server: the address has a scheme, or begins with two slashes, of which
// a browser takes a backslash for one.
func leaves(to string) bool {
	to = strings.ReplaceAll(to, `\`, "/")
	first, _, _ := strings.Cut(to, "/")
	return strings.HasPrefix(to, "//") || strings.Contains(first, ":")
}
