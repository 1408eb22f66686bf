package serve

import (
	"net/http"
	"strings"
	"testing"
)

// TestTheExampleFileCanBeMeasured: it is offered, and measured like a reader's own.
func TestTheExampleFileCanBeMeasured(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir()})
	if _, body := get(t, http.DefaultClient, "GET", s.URL()+"measure", nil); !strings.Contains(body, `href="/measure/example.npz"`) {
		t.Error("the page does not offer it")
	}
	answer, file := get(t, http.DefaultClient, "GET", s.URL()+"measure/example.npz", nil)
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
	answer, body := upload(t, s, map[string][]byte{"example.npz": []byte(file)})
	if answer.StatusCode != http.StatusOK || !strings.Contains(body, "600 samples") || !strings.Contains(body, "10 classes") || !strings.Contains(body, "nc3_gram") || !strings.Contains(body, "data-finding>On the way to collapse") {
		t.Errorf("%s: %.800s", answer.Status, body)
	}
}
