package cli

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/train"
)

func TestBenchTrainAndLayersGiveOneDocument(t *testing.T) {
	longtest.Only(t)
	small := []string{"--net", "resnet18-adapt", "--width", "2", "--batch", "4", "--steps", "1"}
	var r bench.TrainResult
	for _, eval := range []bool{false, true} {
		args := append([]string{"--json", "--threads", "1", "bench", "train"}, small...)
		if eval {
			args = append(args, "--eval")
		}
		code, stdout, stderr := call(t, args...)
		if code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		decodeOnly(t, stdout, &r)
		if r.Net != "resnet18-adapt" || r.Batch != 4 || r.Threads != 1 || r.Eval != eval || !(r.StepMS > 0) {
			t.Errorf("%+v", r)
		}
	}
	var layers bench.LayersReport
	code, stdout, stderr := call(t, append([]string{"--json", "bench", "layers"}, small...)...)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	decodeOnly(t, stdout, &layers)
	if layers.Net != "resnet18-adapt" || len(layers.Operations) < 50 {
		t.Errorf("%+v", layers)
	}
	code, stdout, _ = call(t, append([]string{"bench", "layers"}, small...)...)
	for _, want := range []string{"layer4.1.conv2", "weight gradient", "norm", "optimiser", "all layers"} {
		if code != exitOK || !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

func TestBenchRefusesWhatANetworkDoesNotHave(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--net", "resnet"}, "resnet18-cifar"},
		{[]string{"--net", "vgg13", "--width", "8"}, "--width has no effect here"},
		{[]string{"--net", "resnet18", "--depth", "3"}, "--depth has no effect here: it is for --net mlp"},
		{[]string{"--net", "mlp", "--steps", "0"}, "wanted at least 1"},
		{[]string{"--net", "resnet18-adapt", "--width=-1"}, "stem width is -1"},
	} {
		code, stdout, stderr := call(t, append([]string{"bench", "train"}, c.args...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, %q, %q; wanted %q", c.args, code, stdout, stderr, c.want)
		}
	}
}

func TestSettingsAreListedPrintedAndChanged(t *testing.T) {
	code, stdout, _ := call(t, "--json", "train", "--list-settings")
	var list []train.SettingInfo
	decodeOnly(t, stdout, &list)
	if code != exitOK || len(list) < 20 || list[0].About == "" {
		t.Errorf("exit code %d, %+v", code, list)
	}
	code, stdout, _ = call(t, "train", "--setting", "zhu-sgd", "--data", "mnist", "--optim", "adam", "--net", "vgg13", "--print-config")
	c, err := train.Load("printed", []byte(stdout))
	if code != exitOK || err != nil || c.Data.Name != "mnist" || c.Optim.Kind != "adam" || c.Net.Kind != "vgg13" || c.Run.Batch != 128 || !c.Optim.Nesterov {
		t.Errorf("exit code %d, %v: %+v", code, err, c)
	}
	if code, _, stderr := call(t, "train", "--setting", "zhu-sdg", "--print-config"); code != exitUsage || !strings.Contains(stderr, "did you mean zhu-sgd?") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
