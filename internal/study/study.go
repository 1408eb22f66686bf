package study

import (
	"collapse/internal/store"
	"collapse/train"
)

// Item is one run of a study, of any kind.
type Item struct {
	Hash string // its identity, the hash of Spec
	store.Member
}

// TrainItem makes a training run an item of a study. note says what sets it apart there.
func TrainItem(cfg train.Config, note string) (Item, error) {
	hash, canonical, err := train.Identify(cfg, OpenSet)
	if err != nil {
		return Item{}, err
	}
	return Item{Hash: hash, Member: store.Member{Spec: store.Spec{Kind: store.Train, Config: canonical}, Note: note, Payload: train.Changes(cfg)}}, nil
}

// Save makes or changes a study in the lab. Items with the same identity count once; their number is
// returned.
func Save(lab *store.Lab, name, title, source string, items []Item) (int, error) {
	seen := map[string]bool{}
	var members []store.Member
	for _, it := range items {
		if !seen[it.Hash] {
			seen[it.Hash] = true
			members = append(members, it.Member)
		}
	}
	return len(members), lab.SaveStudy(name, title, source, members)
}
