package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFlagsWithoutEffectAreRefused has calls of which one flag, the one named, does nothing.
func TestFlagsWithoutEffectAreRefused(t *testing.T) {
	dir := t.TempDir()
	point, file := filepath.Join(dir, "p.npz"), filepath.Join(dir, "study.toml")
	for _, name := range []string{point, file} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for words, flags := range map[string][]string{
		"solve ce":                                      {"alpha 2", "m 2", "smoothing 0.2", "loss ce", "sigma 3", "head-layers 2", "l1 1", "l2 1", "lh1 1", "step 1", "momentum 0.5", "iters 9", "init-scale 1", "init POINT", "trace-at 1"},
		"solve relu3":                                   {"lw 1", "lh 1", "lb 0"},
		"solve relu-plain":                              {"lb 0"},
		"solve noisy-features":                          {"optimizer gd", "save x.npz", "at POINT", "l1 1"},
		"solve noisy-features --head-layers 2":          {"lw 1"},
		"solve mse --optimizer auto":                    {"iters 3", "step 1", "momentum 0.5", "trace-at 3"},
		"solve mse --optimizer lbfgs":                   {"step 1", "momentum 0.5"},
		"solve mse --optimizer gd":                      {"momentum 0.5"},
		"solve mse --exact-only":                        {"optimizer gd", "seed 3", "save x.npz"},
		"solve mse --at POINT":                          {"optimizer gd", "init POINT", "seed 3"},
		"dilation --fit pairs.csv":                      {"lw 1", "eta 0.1", "law ball", "sweep eta=1,2"},
		"dilation --sweep eta=0.1,0.2":                  {"eta 0.1", "curve 5"},
		"landscape":                                     {"path POINT", "bias-key b", "weights-key w", "pair 0,2"},
		"landscape --position 1,1":                      {"out x", "s-max 3", "classifier POINT"},
		"reproduce tb-fig1":                             {"set run.epochs=3", "seeds 3", "built-in", "workers 2", "preset code", "run-pages", "again", "data-dir " + dir},
		"reproduce md-fig1":                             {"seed 3", "cert POINT", "ca POINT", "queue q", "serve-listen :0"},
		"reproduce --list":                              {"all", "open", "scale paper"},
		"reproduce md-fig1 --dry-run":                   {"open", "out x", "listen :0"},
		"measure - --features x.npy":                    {"features y"},
		"measure a.ncs --merge":                         {"drop-nonfinite", "classes 3", "labels y"},
		"measure a.npz --means m.ncs --state-out x.ncs": {"csv x", "html x", "null 3"},
		"train --trace-steps 3":                         {"trace-steps 4"},
		"train --print-config":                          {"again", "trace x", "resume ab"},
		"train --list-settings":                         {"epochs 3", "set optim.lr=1"},
		"train --serve-listen :0":                       {"serve-listen :1"},
		"study run STUDY":                               {"scale paper", "ca POINT"},
		"study run name":                                {"seeds 3", "dry-run", "set run.epochs=3"},
		"bench train --net vgg13":                       {"width 8", "depth 3", "inputs 9", "classes 3", "feature-dim 3"},
	} {
		for _, flag := range flags {
			name, _, _ := strings.Cut(flag, " ")
			call := strings.NewReplacer("POINT", point, "STUDY", file).Replace(words + " --" + flag)
			_, errs := called(t, exitUsage, append([]string{"--lab", dir}, strings.Fields(call)...)...)
			if want := "--" + name + " has no effect here: it "; !strings.Contains(errs, want) {
				t.Errorf("%s: %q lacks %q", call, errs, want)
			}
		}
	}
}

// TestSettingsWithoutEffectAreRefused has calls of train whose last setting nothing reads.
func TestSettingsWithoutEffectAreRefused(t *testing.T) {
	for words, want := range map[string]string{
		"--optim adam --set optim.momentum=0.9": "optim.momentum: is 0.9, but has an effect only with optim.kind = sgd",
		"--loss ce --set loss.smoothing=0.1":    "loss.smoothing: is 0.1, but has an effect only with",
		"--net vgg13 --depth 3":                 "net.depth: is 3, but has an effect only with net.kind = mlp",
		"--set optim.momentun=0.9":              "did you mean optim.momentum?",
		"--loss mse2":                           `did you mean "mse"?`,
		"--set optim.schedule.kind=cosine --set optim.schedule.gamma=0.1": "optim.schedule.gamma",
	} {
		_, errs := called(t, exitUsage, append([]string{"train", "--print-config"}, strings.Fields(words)...)...)
		if !strings.Contains(errs, want) {
			t.Errorf("train %s: %q lacks %q", words, errs, want)
		}
	}
	called(t, exitOK, "train", "--print-config", "--loss", "ls", "--set", "loss.smoothing=0.1", "--optim", "sgd", "--set", "optim.momentum=0.5")
}

func TestMeasureNamesNearKeys(t *testing.T) {
	npz, _ := jsonFiles(t)
	_, errs := called(t, exitUsage, "measure", npz.Replace("NPZ"), "--measures", "nc1_pinvv,nc2_w")
	if !strings.Contains(errs, "did you mean nc1_pinv?") {
		t.Error(errs)
	}
	_, errs = called(t, exitUsage, "measure", npz.Replace("NPZ"), "--measures", "nc1,nc2_ww")
	if !strings.Contains(errs, "no measure is called nc1, nc2_ww; did you mean nc1_pinv, nc2_w?\n") {
		t.Error(errs)
	}
	_, errs = called(t, exitUsage, "measure", npz.Replace("NPZ"), "--features-key", "nosuch")
	if !strings.Contains(errs, "nosuch") {
		t.Error(errs)
	}
}
