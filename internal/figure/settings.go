package figure

import (
	"cmp"
	"strconv"

	"collapse.example/collapse/internal/judge"
)

// SettingInWords writes a setting as the papers do, such as "d = 10" or "label smoothing", or as "lr = 0.1" if its value is no word.
func SettingInWords(key, value string) string {
	if _, titles := judge.KindsInWords(key); titles[value] != "" && key != "net.kind" {
		return titles[value]
	}
	if key == "net.feature_dim" && value == "0" {
		return "the network's own d"
	}
	if symbol, ok := map[string]string{"net.feature_dim": "d", "net.width": "width", "net.stem_width": "k", "loss.alpha": "α", "loss.m": "M",
		"data.noise": "η", "data.classes": "K", "optim.weight_decay": "weight decay", "optim.lr": "rate"}[key]; ok {
		return symbol + " = " + value
	}
	if name, ok := map[string]string{"etf": "fixed ETF", "learned": "learned classifier",
		"all": "decay on all parameters", "peeled": "peeled decay", "peeled-batch": "peeled decay, sum over a batch",
		"none": "no line search", "strong_wolfe": "strong Wolfe"}[value]; ok {
		return name
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil || value == "true" || value == "false" {
		return key + " = " + value // a bare number says nothing
	}
	return value
}

// CompareSettings orders two values of a setting: losses in their usual order, so that a loss has one colour on a page; numbers
// by size.
func CompareSettings(key, a, b string) int {
	if key == "loss.kind" {
		return cmp.Compare(judge.LossRank(a), judge.LossRank(b))
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}
