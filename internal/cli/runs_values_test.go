package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestValuesOfARun: a line per measure, a column per split, own values, accuracies and NC1 to NC4 first; reasons are said once, older epochs named.
func TestValuesOfARun(t *testing.T) {
	value := func(split, layer, measure string, step int64, v float64) lastValue {
		return lastValue{Split: split, Layer: layer, Measure: measure, Step: step, Value: &v}
	}
	none := func(split, measure, why string) lastValue {
		return lastValue{Split: split, Measure: measure, Step: 8, Missing: why}
	}
	values := []lastValue{
		value("", "", "lr", 8, .25), value("test", "", "cdnv", 8, 2), value("train", "", "cdnv", 4, 1.5), value("test", "", "accuracy", 8, .5),
		none("test", "nc5_ood", "no samples"), none("train", "nc5_ood", "no samples"), none("train", "ood_auroc_msp", "no samples"), value("train", "", "nc1_pinv", 8, 3),
		none("test", "nc1_pinv", "one class"), value("train", "stem", "nc1_pinv", 8, 7), value("other", "", "f1", 8, .75),
	}
	var out bytes.Buffer
	printValues(&app{stdout: &out}, values)
	want := `MEASURE         VALUE  TRAIN          TEST  OTHER
f1                                          0.75
lr              0.25
accuracy                              0.5
nc1_pinv               3              –
cdnv                   1.5 (epoch 4)  2
stem: nc1_pinv         7
no value: nc1_pinv (test): one class
no value: nc5_ood and ood_auroc_msp: no samples
`
	var got []string
	for line := range strings.SplitSeq(out.String(), "\n") {
		got = append(got, strings.TrimRight(line, " "))
	}
	if strings.Join(got, "\n") != want {
		t.Errorf("%q\nwant %q", strings.Join(got, "\n"), want)
	}
}
