package judge

import "testing"

func TestSplitName(t *testing.T) {
	for name, want := range map[string][3]string{
		"train.nc1_pinv":            {"train", "", "nc1_pinv"},
		"train@layer1.0.nc1_pinv":   {"train", "layer1.0", "nc1_pinv"},
		"test@features.3.cdnv":      {"test", "features.3", "cdnv"},
		"images_per_s":              {"", "", "images_per_s"},
		"train@layer4.1.conv2.cdnv": {"train", "layer4.1.conv2", "cdnv"},
	} {
		split, layer, key := SplitName(name)
		if got := [3]string{split, layer, key}; got != want {
			t.Errorf("%s: %q, wanted %q", name, got, want)
		}
	}
}
