// Package kinds is how kinds of networks, losses and optimisers describe themselves.
package kinds

import "strings"

// Kind describes one kind of network, loss or optimiser. Each is registered once, next to its code; whatever lists
// kinds (configurations, help, benchmarks, pages, docs/training.md) reads it from there.
type Kind struct {
	Name  string   // as configurations have it: "resnet18"
	Title string   // in words: "label smoothing"
	Doc   string   // one line: what it is
	Uses  []string // settings without effect for some other kind, by their names in a configuration
}

// Names are the names of kinds.
func Names(kinds []Kind) []string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = k.Name
	}
	return list
}

// InWords lists the names of kinds in words: "ce, ls or lr".
func InWords(kinds []Kind) string {
	list := Names(kinds)
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
