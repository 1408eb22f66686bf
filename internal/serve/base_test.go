package serve

import (
	"bytes"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/zipped"
)

var references = regexp.MustCompile(`\b(href|src|action|formaction|data-[a-z]+)="(/[^"]*)"`)

// TestPagesBelowAPath goes through the pages of a server below a path: whatever they refer to begins with it, and is there.
func TestPagesBelowAPath(t *testing.T) {
	s := startTest(t, Options{Lab: demoLab(t), Base: "/a/lab"})
	if !strings.HasSuffix(s.URL(), "/a/lab/") {
		t.Fatalf("the address is %s", s.URL())
	}
	host := strings.TrimSuffix(s.URL(), "/a/lab/")
	seen, open := map[string]bool{"/a/lab/": true}, []string{"/a/lab/"}
	pages := 0
	for len(open) > 0 && len(seen) < 400 {
		at := open[0]
		open = open[1:]
		answer, body := get(t, http.DefaultClient, "GET", host+at, map[string]string{"Accept": "text/html"})
		if answer.StatusCode == http.StatusSeeOther && strings.HasPrefix(answer.Header.Get("Location"), "/a/lab/") {
			continue
		}
		if answer.StatusCode != 200 {
			t.Errorf("%s: %d", at, answer.StatusCode)
		}
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
			continue
		}
		pages++
		for _, m := range references.FindAllStringSubmatch(body, -1) {
			to, _, _ := strings.Cut(html.UnescapeString(m[2]), "#")
			switch {
			case m[1] == "data-base":
			case !strings.HasPrefix(to, "/a/lab/"):
				t.Errorf("%s refers to %s", at, m[0])
			case m[1] != "action" && !seen[to]:
				seen[to] = true
				open = append(open, to)
			}
		}
	}
	if pages < 15 {
		t.Errorf("only %d pages were found", pages)
	}
	for at, want := range map[string]string{"/a/lab": "/a/lab/", "/theme?to=dark&back=/words": "/a/lab/words", "/a/lab/theme?to=dark&back=/words": "/a/lab/words"} {
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		if answer, _ := get(t, client, "GET", host+at, nil); answer.Header.Get("Location") != want {
			t.Errorf("%s leads to %q, want %s", at, answer.Header.Get("Location"), want)
		}
	}
	if answer, _ := get(t, http.DefaultClient, "GET", host+"/words", nil); answer.StatusCode != 200 { // of a proxy that takes the path off
		t.Errorf("without the path: %d", answer.StatusCode)
	}
	for _, bad := range []string{"lab", "/lab/", "/", "/a b", "//evil", `/a"`} {
		if _, err := Start(Options{Lab: demoLab(t), Listen: "127.0.0.1:0", Base: bad}); err == nil {
			t.Errorf("--base %q was accepted", bad)
		}
	}
}

// TestScriptsKnowThePath: no script asks for an address from the root.
func TestScriptsKnowThePath(t *testing.T) {
	rooted := regexp.MustCompile("[^+] ['`]/[a-z]|\\(['`]/[a-z]")
	names, err := filepath.Glob("assets/*.js")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if len(line) < 1000 && rooted.MatchString(line) { // not in minified libraries
				t.Errorf("%s:%d: %s", name, i+1, line)
			}
		}
	}
}

// TestTheServerHoldsItsAssets: what is packed is what lies in the folder.
func TestTheServerHoldsItsAssets(t *testing.T) {
	held := loadAssets()
	names, err := filepath.Glob("assets/*.??*")
	if err != nil || len(names) < 10 || len(held) != len(names) {
		t.Fatalf("%d files, %d are served, %v", len(names), len(held), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		name, gz := strings.CutSuffix(filepath.Base(name), ".gz")
		if gz {
			text = zipped.Unpack(text)
		}
		if a := held[name]; !bytes.HasSuffix(a.plain, text) || !bytes.Equal(zipped.Unpack(a.packed), a.plain) {
			t.Errorf("%s has changed since it was packed: go generate ./internal/serve", name)
		}
	}
}

// TestARedirectionBelowAPath: its text has no link without the path, and its cookie is for nobody else at the proxy.
func TestARedirectionBelowAPath(t *testing.T) {
	s := startTest(t, Options{Lab: demoLab(t), Base: "/a/lab", Token: "a token of some length"})
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, body := get(t, client, "GET", strings.Replace(s.URL(), "/a/lab/", "/study", 1), nil)
	if to := answer.Header.Get("Location"); !strings.HasPrefix(to, "/a/lab/study") || body != "" {
		t.Errorf("to %q, with the text %q", to, body)
	}
	if set := answer.Header.Get("Set-Cookie"); !strings.Contains(set, "; Path=/a/lab/;") {
		t.Errorf("the cookie is %q", set)
	}
}
