//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const asksWd = `
[[claim]]
id = "wd"
says = "decay raises the loss"
kind = "more"
left = 'final("test/loss", {"wd": 0.5})'
right = 'final("test/loss", {"wd": 0})'
`

// seeded has the shell trainer's loss depend on the seed.
func seeded(t *testing.T, file string) {
	t.Helper()
	rewritten(t, filepath.Join(filepath.Dir(file), "train.sh"), "--wd) wd=$2;;", "--wd) wd=$2;; --seed) seed=$2;;", "lr=0 wd=0", "lr=0 wd=0 seed=0", "+ $wd + 1", "+ $wd + $seed / 1000 + 1")
}

// TestAClaimAboutASearch is judged on the final runs of each combination: trials have no seeds.
func TestAClaimAboutASearch(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(scriptSearch, "random", "full"), "name = \"found\"", "name = \"found\"\nseeds = 5", 1)
	text = strings.Replace(text, "[base]\nwd = 0\n", "[grid]\nwd = [0, 0.5]\n", 1) + "[search.final]\nextra = 1\n" + asksWd
	file, lab := scriptStudy(t, strings.Replace(text, "trials = 9", "trials = 3", 1))
	seeded(t, file)
	called(t, 0, "--lab", lab, "study", "run", file)
	out, _ := called(t, 0, "--lab", lab, "study", "judge", file)
	if !strings.Contains(out, "holds          decay raises the loss") || !strings.Contains(out, "(5 seeds)") || strings.Contains(out, "a mean over") {
		t.Error(out)
	}
	to := filepath.Join(t.TempDir(), "page")
	called(t, 0, "--lab", lab, "study", "report", file, "--out", to)
	page, err := os.ReadFile(filepath.Join(to, "index.html"))
	if err != nil || strings.Contains(string(page), "is judged only on runs in the terminal phase") || !strings.Contains(string(page), "decay raises the loss") {
		t.Error(err)
	}
}

// TestAReportSaysWhatItDoesNotDraw, and is not made of a file with questions that cannot be read.
func TestAReportSaysWhatItDoesNotDraw(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid+asksWd+`
[[drawing]]
title = "Loss"
[[drawing.panel]]
x = "epoch"
y = "test/los"
`)
	called(t, 0, "--lab", lab, "study", "run", file)
	to := filepath.Join(t.TempDir(), "page")
	if out, _ := called(t, 0, "--lab", lab, "study", "report", file, "--out", to); !strings.Contains(out, "“Loss” is not drawn. No run has test/los; did you mean test/loss?") {
		t.Error(out)
	}
	rewritten(t, file, `y = "test/los"`, "y = \"test/los\"\ncurves = [\"wdd\"]")
	if _, errs := called(t, 2, "--lab", lab, "study", "report", file, "--out", to); !strings.Contains(errs, `study mine: drawing "Loss", panel 1: it names "wdd", which is not a setting; did you mean wd?`) {
		t.Error(errs)
	}
	rewritten(t, file, `left = 'final("test/loss", {"wd": 0.5})'`, "left = 3")
	if _, errs := called(t, 2, "--lab", lab, "study", "judge", file); !strings.Contains(errs, "claim.left is a whole number; wanted a text in quotes") {
		t.Error(errs)
	}
}

// TestSettingsThatASearchDoesNotChoose are refused before the first trial, as is one that is given twice.
func TestSettingsThatASearchDoesNotChoose(t *testing.T) {
	whole := fmt.Sprintf(scriptSearch, "random", "full")
	for space, want := range map[string]string{
		"epochs = { integer = [2, 5] }":                                      "[search.space] epochs: a search does not choose how long trials train",
		"run.epochs = { integer = [2, 5] }":                                  "[search.space] run.epochs: a search does not choose how long trials train",
		"run.seed = { integer = [2, 5] }":                                    "[search.space] run.seed: a search does not choose the seed",
		"lr = { log_uniform = [0.001, 1.0], uniform = [0.5, 0.6] }":          "[search.space] lr has log_uniform and uniform; wanted one of them",
		"lr = { uniform = [0, 1] }\n[grid]\nlr = [0.1, 0.2]":                 "[grid] and [search.space] both have lr; leave it out of one of them",
		"lr = { uniform = [0, 1] }\nwd = { choice = [1], integer = [1, 2] }": "[search.space] wd has choice and integer; wanted one of them",
	} {
		file, lab := scriptStudy(t, strings.Replace(whole, "lr = { uniform = [0.0, 1.0] }", space, 1))
		if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, want) {
			t.Errorf("%s: %s; wanted %s", space, errs, want)
		}
	}
}

// TestSmallWords of studies of scripts.
func TestSmallWords(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "lr = 0.1", "lr = 0.1\nrun.epochs = 3\nnote = 'c \"q\" & d'", 1))
	rewritten(t, filepath.Join(filepath.Dir(file), "train.sh"), "shift 2; done", "shift 2; done # takes --lr --wd --note", `\"sum\": $sum}`, `\"sum\": null}`)
	_, errs := called(t, 0, "--lab", lab, "study", "run", file)
	if strings.Contains(errs, "names no flag") {
		t.Error(errs)
	}
	out, _ := called(t, 0, "--lab", lab, "--json", "study", "export", "mine")
	if !strings.Contains(out, "the script reported no number (null)") || strings.Contains(out, "not a number (NaN)") {
		t.Errorf("%.600s", out)
	}
	rewritten(t, file, `command = ["sh", "train.sh"]`, `command = "sh train.sh"`)
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, `trainer.command is a text; wanted a list of texts, such as ["a", "b"]`) {
		t.Error(errs)
	}
	for _, seeds := range []string{"--seeds=0", "--seeds=-2"} {
		if _, errs := called(t, 2, "--lab", lab, "study", "run", file, seeds); !strings.Contains(errs, "is no whole number from 1") {
			t.Error(errs)
		}
	}
}
