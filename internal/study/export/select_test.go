package export

import (
	"maps"
	"strings"
	"testing"

	"collapse.example/collapse/internal/study"
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
	if len(all) != 2 || all[0].Study != "s" || all[0].Note == "" || len(both) != 3 || both[0].Study != "s" || both[2].Study != "" || both[2].Hash != hash || both[1].Note == "" {
		t.Errorf("all %+v, both %+v", all, both)
	}
	for _, name := range []string{"nosuch", "ffff", ""} {
		if _, err := Select(lab.Reader, []string{name}); err == nil || !strings.Contains(err.Error(), "neither a study") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestEveryRunHasItsNewestStudy, once, and a run of none has none.
func TestEveryRunHasItsNewestStudy(t *testing.T) {
	configs := studytest.SmallGrid()[:3]
	items := studytest.Items(t, configs)
	lab := studytest.Saved(t, configs[:2])
	for name, of := range map[string][]study.Item{"gone": items[2:], "newer": items[1:2]} {
		_, err := study.Save(lab, name, "", "", of)
		must(t, err)
	}
	must(t, lab.RemoveStudy("gone"))
	all, err := Select(lab.Reader, nil)
	must(t, err)
	got := map[string]string{}
	for _, r := range all {
		got[r.Hash] = r.Study
	}
	if want := map[string]string{items[0].Hash: "s", items[1].Hash: "newer", items[2].Hash: ""}; len(all) != 3 || !maps.Equal(got, want) {
		t.Errorf("%v, wanted %v", got, want)
	}
}
