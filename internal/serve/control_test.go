package serve

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestARunIsDescribed: a label and tags are written by forms, and only where the page may control.
func TestARunIsDescribed(t *testing.T) {
	hash := someRun(t, demoLab(t))
	did := &recorded{}
	s := startTest(t, Options{Lab: demoLab(t), Control: did})
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	post := func(server *Server, form url.Values) int {
		t.Helper()
		answer, err := client.PostForm(server.URL()+"run/"+hash+"/describe", form)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for _, c := range []struct {
		form   url.Values
		status int
		did    string
	}{
		{url.Values{"label": {" the odd <one> "}}, http.StatusSeeOther, "label the odd <one> " + hash},
		{url.Values{"label": {""}}, http.StatusSeeOther, "label  " + hash},
		{url.Values{"tag": {"to look at"}}, http.StatusSeeOther, "tag to look at " + hash},
		{url.Values{"untag": {"demo"}}, http.StatusSeeOther, "untag demo " + hash},
		{url.Values{"other": {"x"}}, http.StatusBadRequest, ""},
		{url.Values{"tag": {strings.Repeat("x", mostForm)}}, http.StatusBadRequest, ""},
	} {
		did.what = ""
		if got := post(s, c.form); got != c.status || did.what != c.did {
			t.Errorf("%.60v: %d, did %q; wanted %d, %q", c.form, got, did.what, c.status, c.did)
		}
	}
	if _, body := get(t, http.DefaultClient, "GET", s.URL()+"run/"+hash, map[string]string{"Accept": "text/html"}); !strings.Contains(body, `name="untag" value="demo"`) {
		t.Error("the page has no form for its tags")
	}
	readOnly := startTest(t, Options{Lab: demoLab(t)})
	if got := post(readOnly, url.Values{"tag": {"x"}}); got != http.StatusNotFound && got != http.StatusMethodNotAllowed {
		t.Errorf("read only: %d", got)
	}
	if _, body := get(t, http.DefaultClient, "GET", readOnly.URL()+"run/"+hash, map[string]string{"Accept": "text/html"}); strings.Contains(body, "describe") {
		t.Error("a page that is read only has forms")
	}
}
