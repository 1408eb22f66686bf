package serve

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
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

// TestAStudyHasARemark: it is written by a form, only where the page may control, and every page shows it as text.
func TestAStudyHasARemark(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	item, err := study.TrainItem(demo.Smoke(1).Grid.Base, "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := study.Save(lab, "mine", "", "", []study.Item{item}); err != nil {
		t.Fatal(err)
	}
	did := &recorded{}
	s, readOnly := startTest(t, Options{Lab: lab.Dir(), Control: did}), startTest(t, Options{Lab: lab.Dir()})
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	post := func(address string, form url.Values) int {
		t.Helper()
		answer, err := client.PostForm(address, form)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if got := post(s.URL()+"study/remark?study=mine", url.Values{"remark": {" look <again> "}}); got != http.StatusSeeOther || did.what != "remark mine look <again>" {
		t.Errorf("%d, did %q", got, did.what)
	}
	for _, c := range []struct {
		address string
		form    url.Values
	}{{"study/remark", url.Values{"remark": {"x"}}}, {"study/remark?study=mine", url.Values{"other": {"x"}}}, {"study/remark?study=mine", url.Values{"remark": {strings.Repeat("x", mostForm)}}}} {
		if got := post(s.URL()+c.address, c.form); got != http.StatusBadRequest {
			t.Errorf("%s %.60v: %d", c.address, c.form, got)
		}
	}
	if got := post(readOnly.URL()+"study/remark?study=mine", url.Values{"remark": {"x"}}); got != http.StatusNotFound && got != http.StatusMethodNotAllowed {
		t.Errorf("read only: %d", got)
	}
	if err := lab.SetRemark("mine", "look <again>"); err != nil {
		t.Fatal(err)
	}
	html := map[string]string{"Accept": "text/html"}
	if _, body := get(t, http.DefaultClient, "GET", readOnly.URL()+"study?study=mine", html); !strings.Contains(body, "<p data-remark>look &lt;again&gt;</p>") {
		t.Error("a page that is read only does not show the remark")
	}
	if _, body := get(t, http.DefaultClient, "GET", s.URL()+"study?study=mine", html); !strings.Contains(body, `value="look &lt;again&gt;"`) {
		t.Error("the form does not hold the remark")
	}
}
