package judge_test

import (
	"reflect"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/store"
)

func TestDifferencesListOnlyWhatDiffers(t *testing.T) {
	got := judge.Differences([]judge.Run{judgetest.LiveRun(t, "aa", "ce", 0, store.Done, 1), judgetest.LiveRun(t, "bb", "ls", 0, store.Done, 1)})
	want := []judge.Difference{{"loss.kind", []string{"ce", "ls"}}}
	for _, d := range got {
		if d.Key == "loss.kind" && !reflect.DeepEqual(d, want[0]) || d.Key == "data.noise" || d.Key == "run.epochs" {
			t.Errorf("difference %+v", d)
		}
	}
	if len(got) == 0 {
		t.Error("no difference found")
	}
}

func TestNamesTellRunsApart(t *testing.T) {
	runs := []judge.Run{judgetest.LiveRun(t, "aa", "ce", 0, store.Running, 0.25), judgetest.LiveRun(t, "bb", "ls", 0.2, store.Failed, 0.5)}
	if got := judge.Names(runs); got[0] == got[1] || got[0] != "cross entropy, η 0" {
		t.Errorf("names %q", got)
	}
	if twins := judge.Names([]judge.Run{runs[0], runs[0]}); twins[0] != "cross entropy (aa)" {
		t.Errorf("runs of one configuration are named %q", twins)
	}
	runs[0].Settings["optim.lr"], runs[1].Settings["optim.lr"] = "0.0124282571650474", "0.000012974008026189623"
	if got := judge.Names(runs); !strings.HasSuffix(got[0], ", lr 0.01243") || !strings.HasSuffix(got[1], ", lr 1.297·10⁻⁵") {
		t.Errorf("drawn settings are named %q", got)
	}
	if runs[0].Epochs() != 7 {
		t.Errorf("epochs %d, want 7", runs[0].Epochs())
	}
}
