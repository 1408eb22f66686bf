// Package study is the front door to studies: sets of runs that are computed on one or many machines, by processes that
// may be killed at any time, and that end up in one lab. It defines what a study is and computes one run; the packages
// below do the rest.
//
// The user writes a study's file (File): settings that all runs share, a grid, perhaps a search. File.Items turns it
// into runs (Item), each with the hash that identifies it, and Save writes them into the lab. coordinator.Execute computes
// those that the lab does not hold yet. The packages below:
//
//	coordinator submits jobs to the queue, applies results to the lab, adopts files, takes over; one process per lab
//	worker    computes jobs for a coordinator on another machine, in a scratch lab
//	wire      what the two send each other: rows, checkpoints, files; and the checks of what arrives
//	trials    carries out a search: asks for runs, round by round, and has the coordinator compute them
//	export    runs of a lab as tables and as TensorBoard event files
//	forecast  how long the missing runs will take, and how much memory
//
// A run moves through these states:
//
//	          1              2              3
//	waiting ────► leased ────► running ────► done
//	 ▲ ▲ ▲           │           │ │ │
//	 │ │ └─────4─────┴─────4─────┘ │ └──5──► failed
//	 │ │                           6           │
//	 │ └───────7───── cancelled ◄──┘           │
//	 └─────────────────────────7───────────────┘
//
// Each arrow belongs to one process, or to the user:
//
//  1. A worker, by its lease in the queue.
//  2. The coordinator, by a lease in the lab: for a slot of its own process, or for a worker elsewhere when its first message
//     arrives. A `collapse train` on the lab also leases a run; the coordinator then leaves it alone.
//  3. The process that holds the lab's lease, once the lab has all rows and files.
//  4. The worker, when it stops or its machine cannot do the run (queue.Unfit); another worker, when it falls silent. The next one
//     continues from the last checkpoint.
//  5. The process that holds the lab's lease, when the run itself cannot be done (queue.Fail) or no attempt is left.
//  6. The user (study cancel); a waiting or leased run can be cancelled, too. The coordinator takes the job out of the queue.
//  7. The user (study resume; study retry).
//
// The lab stores these states as store.Pending (waiting, before any attempt), Interrupted (waiting after one, or
// cancelled), Running, Done and Failed; only the queue knows that a run is leased.
//
// Leases have generations, of two kinds. The queue's generation rises with every lease of a job and is part of every
// message of its worker: the messages of an overtaken worker carry an older one than the lab has noted
// (store.Lab.SetRemote), and are dropped. The lab's generation rises with every lease of a run and separates the
// processes of one machine: the process that lost its lease gets store.ErrLost at its next write.
//
// See file.go for what the user writes, kind.go for what computing a run means, place.go and trial.go for searches.
package study

import (
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Item is one run of a study, of any kind.
type Item struct {
	Hash string // its identity: the hash of Spec
	store.Member
}

// TrainItem turns a training run into an item of the study. note says what sets it apart there.
func TrainItem(cfg train.Config, note string) (Item, error) {
	hash, canonical, err := train.Identify(cfg, OpenSet)
	if err != nil {
		return Item{}, err
	}
	return Item{Hash: hash, Member: store.Member{Spec: store.Spec{Kind: store.Train, Config: canonical}, Note: note, Payload: train.Changes(cfg)}}, nil
}

// Counts says how many of the runs that items are have finished, failed, and are still to be computed. Items with the same identity count once.
func Counts(lab *store.Reader, items []Item) (done, failed, missing int, err error) {
	seen := map[string]bool{}
	for _, it := range items {
		if seen[it.Hash] {
			continue
		}
		seen[it.Hash] = true
		run, err := lab.Run(it.Hash)
		switch {
		case err != nil && !store.IsNotFound(err):
			return 0, 0, 0, err
		case err == nil && run.Status == store.Done:
			done++
		case err == nil && run.Status == store.Failed:
			failed++
		default:
			missing++
		}
	}
	return done, failed, missing, nil
}

// Save creates or changes a study in the lab and returns its number of items; items with the same identity count once.
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
