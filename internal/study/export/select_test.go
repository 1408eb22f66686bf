package export

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/study/studytest"
)

func TestSelect(t *testing.T) {
	configs := studytest.SmallGrid()[:2]
	lab := studytest.Saved(t, configs)
	hash := studytest.Items(t, configs)[1].Hash
	all, err := Select(lab.Reader, nil)
	must(t, err)
	both, err := Select(lab.Reader, []string{"s", hash[:10], "s"})
	must(t, err)
	if len(all) != 2 || len(both) != 3 || both[0].Study != "s" || both[2].Study != "" || both[2].Hash != hash || both[1].Note == "" {
		t.Errorf("all %+v, both %+v", all, both)
	}
	for _, name := range []string{"nosuch", "ffff", ""} {
		if _, err := Select(lab.Reader, []string{name}); err == nil || !strings.Contains(err.Error(), "neither a study") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
