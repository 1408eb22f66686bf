package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// get asks a server without following redirects.
func get(t *testing.T, client *http.Client, method, address string, header map[string]string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		if k == "Host" {
			req.Host = v
		}
		req.Header.Set(k, v)
	}
	plain := *client
	plain.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return whole(t)(plain.Do(req))
}

// whole reads an answer to its end.
func whole(t *testing.T) func(*http.Response, error) (*http.Response, string) {
	return func(answer *http.Response, err error) (*http.Response, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(body)
	}
}

func TestOnlyOwnNamesAndOriginsAreAnswered(t *testing.T) {
	s := startTest(t, Options{Lab: demoLab(t)})
	for _, c := range []struct {
		name   string
		method string
		header map[string]string
		want   int
	}{
		{"plain", "GET", nil, 200},
		{"localhost", "GET", map[string]string{"Host": "localhost:1234"}, 200},
		{"rebound name", "GET", map[string]string{"Host": "evil.example:8642"}, 421},
		{"name that ends in ours", "GET", map[string]string{"Host": "localhost.evil.example"}, 421},
		{"another address", "GET", map[string]string{"Host": "192.0.2.7:8642"}, 421},
		{"fetch from another site", "GET", map[string]string{"Origin": "http://evil.example"}, 403},
		{"fetch from another port", "GET", map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{"sandboxed page", "GET", map[string]string{"Origin": "null"}, 403},
		{"picture on another site", "GET", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		{"link on another site", "GET", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200},
		{"form on another site", "POST", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 403},
		{"form on another port", "POST", map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{"form on a rebound name", "POST", map[string]string{"Host": "evil.example:8642", "Origin": "http://evil.example:8642", "Sec-Fetch-Site": "same-origin"}, 421},
		{"fetch on a rebound name", "GET", map[string]string{"Host": "evil.example:8642", "Sec-Fetch-Site": "same-origin"}, 421},
		{"no name", "POST", map[string]string{"Host": ":8642"}, 421},
		{"method that no page has", "DELETE", nil, 405},
		{"page's own request", "GET", map[string]string{"Origin": strings.TrimSuffix(s.URL(), "/")}, 200},
	} {
		answer, body := get(t, http.DefaultClient, c.method, s.URL(), c.header)
		if answer.StatusCode != c.want {
			t.Errorf("%s: %d, want %d: %.200s", c.name, answer.StatusCode, c.want, body)
		}
		if got := answer.Header.Get("Content-Security-Policy"); c.name == "plain" && (got != policy || !strings.Contains(got, "script-src 'self';") || strings.Contains(strings.Split(got, "style-src")[0], "unsafe")) {
			t.Errorf("%s: policy %q", c.name, got)
		}
		if c.want >= 400 && strings.Contains(body, "label smoothing") {
			t.Errorf("%s: refused, but the answer holds a page", c.name)
		}
	}
}

// TestNamesOfAProxy: a name that was given is answered to, and needs a token, since others may reach it.
func TestNamesOfAProxy(t *testing.T) {
	s := startTest(t, Options{Lab: demoLab(t), Hosts: []string{"Lab.example.org."}})
	token := s.URL()[strings.Index(s.URL(), "token=")+len("token="):]
	for host, want := range map[string]int{"lab.example.org": 200, "LAB.example.org:443": 200, "evil.example": 421, "x.lab.example.org": 421} {
		at := strings.Split(s.URL(), "?")[0]
		if answer, _ := get(t, http.DefaultClient, "GET", at, map[string]string{"Host": host}); want == 200 && answer.StatusCode == 200 {
			t.Errorf("%s without a token: %d", host, answer.StatusCode)
		}
		if answer, _ := get(t, &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, "GET", at+"?token="+token, map[string]string{"Host": host}); (answer.StatusCode < 400) != (want == 200) || want != 200 && answer.StatusCode != want {
			t.Errorf("%s with the token: %d, want %d", host, answer.StatusCode, want)
		}
	}
	if _, err := Start(Options{Lab: demoLab(t), Listen: "127.0.0.1:0", Hosts: []string{"https://x.org"}}); err == nil || !strings.Contains(err.Error(), "without scheme") {
		t.Errorf("a URL for a name: %v", err)
	}
}

func TestTokenIsNeededBeyondLoopback(t *testing.T) {
	s := startTest(t, Options{Lab: demoLab(t), Listen: "0.0.0.0:0"})
	if !s.NeedsToken() || !strings.Contains(s.URL(), "token=") {
		t.Fatalf("an open address has the link %s", s.URL())
	}
	link, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	token := link.Query().Get("token")
	base := "http://127.0.0.1:" + link.Port()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	for _, path := range []string{"/", "/study?kind=train", "/events", "/measure", "/theory/figures/gram.svg", "/assets/page.js", "/nope"} {
		if answer, body := get(t, client, "GET", base+path, nil); answer.StatusCode != 401 || strings.Contains(body, "seed") {
			t.Errorf("%s without a token: %d", path, answer.StatusCode)
		}
	}
	if answer, _ := get(t, client, "GET", base+"/?token=wrong", nil); answer.StatusCode != 401 || len(answer.Cookies()) != 0 {
		t.Errorf("a wrong token: %d, cookies %v", answer.StatusCode, answer.Cookies())
	}
	if answer, _ := get(t, client, "GET", base+"/", map[string]string{"Cookie": s.gate.cookie() + "=wrong"}); answer.StatusCode != 401 {
		t.Errorf("a wrong cookie: %d", answer.StatusCode)
	}
	answer, _ := get(t, client, "GET", base+"/study?kind=train&token="+token, nil)
	if answer.StatusCode != 303 || answer.Header.Get("Location") != "/study?kind=train" {
		t.Fatalf("the right token: %d to %q, want 303 to the page without it", answer.StatusCode, answer.Header.Get("Location"))
	}
	if c := answer.Cookies(); len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteLaxMode {
		t.Errorf("cookies %v", c)
	}
	if answer, _ := get(t, client, "GET", base+"/", nil); answer.StatusCode != 200 {
		t.Errorf("with the cookie: %d", answer.StatusCode)
	}
	if answer, _ := get(t, client, "GET", base+"/", map[string]string{"Host": "evil.example"}); answer.StatusCode != 421 {
		t.Errorf("a rebound name with the cookie: %d", answer.StatusCode)
	}
}

func TestWeakTokensAndBadAddressesAreRefused(t *testing.T) {
	for _, opt := range []Options{{Listen: "127.0.0.1:0", Token: "short"}, {Listen: "nonsense"}, {Listen: "256.0.0.1:0"}} {
		opt.Lab = t.TempDir()
		if s, err := Start(opt); err == nil {
			s.Close()
			t.Errorf("%+v started", opt)
		}
	}
	s := startTest(t, Options{Lab: t.TempDir(), Token: "a token of one's own"})
	if answer, _ := get(t, http.DefaultClient, "GET", s.publicURL(), nil); answer.StatusCode != 401 {
		t.Errorf("a loopback address with a token of one's own: %d, want 401", answer.StatusCode)
	}
}

func TestPathsLeadNowhereElse(t *testing.T) {
	s := startTest(t, Options{Lab: demoLab(t)})
	for _, path := range []string{"/../../etc/passwd", "/assets/../serve.go", "/assets/..%2f..%2fserve.go", "/assets/licenses", "/run/..%2f..%2flab.sqlite", "/run/../lab.sqlite",
		"/run/%00", "/run/deadbeef/figures/..%2f..%2fconfig.toml", "/run/x/features/%2e%2e.svg", "/measure/..%2f..", "/study?tag=../../etc", "/study", "/theory/figures/gram.exe", "/lab.sqlite", "/theory?k=1e99", "/theory?k=NaN", "/theory?model=%3Cscript%3E"} {
		answer, body := get(t, http.DefaultClient, "GET", strings.TrimSuffix(s.URL(), "/")+path, map[string]string{"Accept": "text/html"})
		if answer.StatusCode < 300 || answer.StatusCode >= 500 || strings.Contains(body, "root:") || strings.Contains(body, "SQLite format") || strings.Contains(body, "<script>") {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
	for _, back := range []string{"//evil.example/", "https://evil.example/", `/\evil.example`, `\\evil.example`} {
		answer, _ := get(t, http.DefaultClient, "GET", s.URL()+"theme?to=dark&back="+url.QueryEscape(back), nil)
		to, err := url.Parse(answer.Header.Get("Location"))
		if err != nil || to.Host != "" || to.Scheme != "" {
			t.Errorf("the theme's link returns to %q", answer.Header.Get("Location"))
		}
	}
	if answer, _ := get(t, http.DefaultClient, "GET", s.URL()+"?x="+strings.Repeat("y", maxURL), nil); answer.StatusCode != 414 {
		t.Errorf("a long address: %d", answer.StatusCode)
	}
}

// whereTo is where a browser goes that is sent to an address from a page of http://here/, by the rules of the URL standard that matter:
// control characters and spaces at the ends and tabs and line ends within are dropped, and a backslash is a slash.
func whereTo(t *testing.T, address string) string {
	t.Helper()
	address = strings.TrimFunc(address, func(r rune) bool { return r <= ' ' })
	address = strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(address)
	to, err := url.Parse("http://here/dir/page")
	if err == nil {
		to, err = to.Parse(address)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to.Scheme + "://" + to.Host
}

// TestRedirectsStayHere sends the theme's link and the link with the token to other hosts in every way that a browser would follow.
func TestRedirectsStayHere(t *testing.T) {
	s := startTest(t, Options{Lab: demoLab(t)})
	for _, back := range []string{"\t//evil.example", "/\t/evil.example", "/\n/evil.example", "\r//evil.example", " //evil.example", "\x00//evil.example", "//evil.example", "///evil.example",
		`/\evil.example`, `\\evil.example`, `\/evil.example`, `/x\..\\evil.example`, "/.//evil.example", "/..//evil.example", "/x/..//evil.example", "/%2Fevil.example", "/%5Cevil.example",
		"/%09/evil.example", "/%0a/evil.example", "https://evil.example/", "HTTPS:evil.example", "https:/evil.example", "http:\\evil.example", "javascript:alert(1)", "data:text/html,x", "mailto:x@evil.example",
		"evil.example", "", "?x", "#x", "/x\r\nSet-Cookie: a=b", "/%", "//user@evil.example/", "/\u0085/evil.example", "//[::1]/"} {
		answer, _ := get(t, http.DefaultClient, "GET", s.URL()+"theme?to=dark&back="+url.QueryEscape(back), nil)
		to := answer.Header.Get("Location")
		if answer.StatusCode != 303 || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\t\r\n\x00") || whereTo(t, to) != "http://here" || strings.Contains(answer.Header.Get("Set-Cookie"), "a=b") {
			t.Errorf("back=%q leads to %q", back, to)
		}
	}
	for _, back := range []string{"/", "/run/0123abcd?epoch=4", "/study?study=a%2Fb+c&page=2", "/theory?model=ls-nonneg&alpha=0.1", "/run/x%20y"} {
		if answer, _ := get(t, http.DefaultClient, "GET", s.URL()+"theme?back="+url.QueryEscape(back), nil); answer.Header.Get("Location") != back {
			t.Errorf("back=%q leads to %q", back, answer.Header.Get("Location"))
		}
	}
	const token = "a token of one's own"
	s = startTest(t, Options{Lab: demoLab(t), Token: token})
	for _, path := range []string{"//evil.example/", "//evil.example/%2e%2e/", "/%09/evil.example", "/%5C/evil.example", `/\evil.example`, "/.//evil.example", "/%2Fevil.example"} {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET %s?token=%s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", path, url.QueryEscape(token))
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		c.Close()
		if to := answer.Header.Get("Location"); answer.StatusCode != 303 || whereTo(t, to) != "http://here" || strings.Contains(to, "token") || strings.HasPrefix(to, "//") {
			t.Errorf("%s with the token: %d to %q", path, answer.StatusCode, to)
		}
	}
}

func TestControlIsThereOnlyWhenAllowed(t *testing.T) {
	s := startTest(t, Options{Lab: demoLab(t)})
	if answer, _ := get(t, http.DefaultClient, "POST", s.URL()+"run/00/cancel", nil); answer.StatusCode != 405 && answer.StatusCode != 404 {
		t.Errorf("read only: %d", answer.StatusCode)
	}
	hash := someRun(t, demoLab(t))
	did := &recorded{}
	s = startTest(t, Options{Lab: demoLab(t), Control: did})
	if answer, body := get(t, http.DefaultClient, "POST", s.URL()+"run/"+hash+"/cancel", nil); answer.StatusCode != 303 || did.what != "cancel "+hash {
		t.Errorf("cancel: %d, did %q: %.200s", answer.StatusCode, did.what, body)
	}
	if answer, _ := get(t, http.DefaultClient, "POST", s.URL()+"study/retry?study=x+y", nil); answer.StatusCode != 303 || did.what != "retry study x y" {
		t.Errorf("retry: %d, did %q", answer.StatusCode, did.what)
	}
	did.what = ""
	evil := map[string]string{"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"} // a rebound name
	for _, c := range []struct {
		path   string
		header map[string]string
	}{
		{"run/" + hash + "/cancel", map[string]string{"Origin": "http://evil.example"}},
		{"run/" + hash + "/cancel", map[string]string{"Origin": "null"}},
		{"run/" + hash + "/cancel", map[string]string{"Sec-Fetch-Site": "cross-site"}},
		{"run/" + hash + "/cancel", evil},
		{"study/cancel?study=x", evil},
		{"run/" + hash + "/explode", nil},
		{"run/ff00/cancel", nil},
	} {
		path, header := c.path, c.header
		if answer, _ := get(t, http.DefaultClient, "POST", s.URL()+path, header); answer.StatusCode < 400 || did.what != "" {
			t.Errorf("%s %v: %d, did %q", path, header, answer.StatusCode, did.what)
		}
	}
}
