package serve

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// unusualFile has three classes of features under other names than usual, beside a layer of one width more.
func unusualFile(t *testing.T) []byte {
	t.Helper()
	const n, d, k = 60, 3, 3
	h, x, y := make([]float32, n*d), make([]float32, n*(d+1)), make([]int64, n)
	for i := range n {
		y[i] = int64(i % k)
		h[i*d+int(y[i])], x[i*(d+1)+int(y[i])] = 1, 2
		h[i*d+i%2], x[i*(d+1)+i%2] = h[i*d+i%2]+0.1, x[i*(d+1)+i%2]+0.3
	}
	var b bytes.Buffer
	if err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("mine.a", []int{n, d}, h), arrayfile.Of("mine.b", []int{n, d + 1}, x), arrayfile.Of("classes", []int{n}, y)}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// uploadNamed posts a file with fields, as the page's form does.
func uploadNamed(t *testing.T, s *Server, file []byte, fields map[string]string) (*http.Response, string) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for name, value := range fields {
		form.WriteField(name, value)
	}
	part, err := form.CreateFormFile("file", "net.npz")
	if err != nil {
		t.Fatal(err)
	}
	part.Write(file)
	form.Close()
	return whole(t)(http.Post(s.URL()+"measure", form.FormDataContentType(), &b))
}

// TestArraysAreNamedInThePage: of a file with other names than usual the form says which arrays are meant, or which layers.
func TestArraysAreNamedInThePage(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir()})
	file := unusualFile(t)
	for name, c := range map[string]struct {
		fields map[string]string
		status int
		want   []string
	}{
		"no names":         {nil, 400, []string{"net.npz", "mine.a"}},
		"a name":           {map[string]string{"features": " mine.b ", "labels": "classes"}, 200, []string{"60 samples of width 4", "Measured: net"}},
		"layers":           {map[string]string{"layers": "mine.*", "labels": "classes"}, 200, []string{`<th scope="col">mine.a</th>`, `<th scope="col">mine.b</th>`}},
		"no such layer":    {map[string]string{"layers": "yours.*", "labels": "classes"}, 400, []string{"yours.*"}},
		"no such array":    {map[string]string{"features": "h9", "labels": "classes"}, 400, []string{"h9"}},
		"a bad name":       {map[string]string{"features": "a\nb"}, 400, []string{"name of the features"}},
		"a long name":      {map[string]string{"labels": strings.Repeat("x", 300)}, 400, []string{"at most 200"}},
		"an unknown field": {map[string]string{"features": "mine.a", "labels": "classes", "ood": "x"}, 200, []string{"width 3"}},
	} {
		answer, body := uploadNamed(t, s, file, c.fields)
		if answer.StatusCode != c.status {
			t.Errorf("%s: %d: %.300s", name, answer.StatusCode, body)
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %q in %.400s", name, want, body)
			}
		}
		if c.status != 200 && (strings.Contains(body, "--") || strings.Contains(body, "0/net.npz")) {
			t.Errorf("%s: a page names a flag or a folder: %.400s", name, body)
		}
	}
}

// TestErrorsOfPagesNameNoFlag reads errors of package featurefiles.
func TestErrorsOfPagesNameNoFlag(t *testing.T) {
	const there = "; `collapse measure` on the command line has a setting for this"
	for text, want := range map[string]string{
		"x.npz: the end is missing": "x.npz: the end is missing",
		"x.npz: several arrays could be the features: h, feats; say which with --features-key NAME":           "x.npz: several arrays could be the features: h, feats; give its name in the field “features”",
		"--layers: no floating-point array matches \"a*\"; x.npz has h":                                       "layers: no floating-point array matches \"a*\"; x.npz has h",
		"8 rows, and 7 labels; the features seem to be stored d×N: give --transpose-features":                 "8 rows, and 7 labels" + there,
		"a classifier of 3 rows; want labels 0 to 2, the numbers of rows (--ignore-label=9 leaves these out)": "a classifier of 3 rows; want labels 0 to 2, the numbers of rows" + there,
		"h.npy holds a bias, and no classifier weight was found; give --weights FILE":                         "h.npy holds a bias, and no classifier weight was found" + there,
	} {
		if got := withoutFlags(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}
