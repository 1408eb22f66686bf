package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/data"
)

// TestDataGet: files with another content than the published one are refused, with what to do by hand, and nothing of them stays.
func TestDataGet(t *testing.T) {
	t.Setenv(data.RootVariable, "")
	root := t.TempDir()
	served := 0
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served++
		w.WriteHeader(http.StatusNotFound)
	}))
	defer site.Close()
	// The official addresses are out of reach through a proxy that is not there.
	t.Setenv("HTTP_PROXY", site.URL)
	t.Setenv("HTTPS_PROXY", site.URL)
	code, stdout, stderr := call(t, "--json", "data", "get", "svhn", "--data-dir", root, "--mirror", site.URL)
	if code != exitFailed || stdout != "" || served == 0 {
		t.Fatalf("exit code %d, standard output %q, %d requests", code, stdout, served)
	}
	for _, want := range []string{site.URL + "/train_32x32.mat: the server answers 404", "without a network, fetch http://ufldl.stanford.edu/housenumbers/train_32x32.mat (182040794 bytes", filepath.Join(root, "svhn")} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q does not say %q", stderr, want)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(root, "svhn")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"data", "get", "svnh", "--data-dir", root}, exitUsage, "no data set is called"},
		{[]string{"data", "get", "svhn"}, exitUsage, "no directory was given"},
		{[]string{"data", "get", "mini-imagenet"}, exitFailed, "mini-imagenet-cache"},
		{[]string{"data", "get", "glyphs"}, exitFailed, "built in"},
	} {
		if code, stdout, stderr := call(t, c.args...); code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, standard output %q, standard error %q", c.args, code, stdout, stderr)
		}
	}
}

func TestDataList(t *testing.T) {
	code, stdout, _ := call(t, "--json", "data", "list")
	var rows []struct {
		Name  string
		Files []data.RemoteFile
	}
	decodeOnly(t, stdout, &rows)
	if code != exitOK || len(rows) != len(data.List()) || rows[0].Name != "glyphs" || len(rows[1].Files) != 4 || len(rows[1].Files[0].SHA256) != 64 {
		t.Errorf("exit code %d, %+v", code, rows)
	}
	if _, text, _ := call(t, "data", "list"); !strings.Contains(text, "cifar-10-binary.tar.gz, 170.1 MB, sha256 c4a38c50a1bc… (unverified here: from github.com/tensorflow/datasets") {
		t.Errorf("%s", text)
	}
}

func TestDataCheck(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "cifar-100"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "cifar-100", "test.bin"), make([]byte, 3073), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "data", "check", "--data-dir", root)
	if want := "not a multiple of the record size 3074"; code != exitFailed || !strings.Contains(stdout, want) || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, %s", code, stdout)
	}
	for _, want := range []string{"run `collapse data get cifar-10`", "glyphs", "present"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%s\ndoes not say %q", stdout, want)
		}
	}
}
