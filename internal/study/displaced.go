package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
)

// Displaced says which runs, of those that were begun, a study had before that are not among its items now, which files of their code were others, and how to have the
// runs of that code count; "" if none. would is for items that it has not yet.
func Displaced(name string, before []store.StudyRun, items []Item, would bool) string {
	before = outside(begunOf(before), items)
	if len(before) == 0 {
		return ""
	}
	n := len(before)
	no := map[bool]string{true: "count no more", false: "counts no more"}[n > 1]
	if would {
		no = "would count no more"
	}
	if !slices.ContainsFunc(before, func(r store.StudyRun) bool { return TrialOf(r.Payload).Role != RoleBest }) {
		return fmt.Sprintf("%s of %s %s, as seeds, final settings or the best are others now; the lab keeps them (collapse runs list)", format.Count(n, "final run"), name, no)
	}
	why, how := "whose settings the file does not ask for any more", "once the file asks for them"
	if changed := changedFiles(before, items); len(changed) > 0 && sameNow(changed, items) {
		return fmt.Sprintf("%s of %s %s: by [trainer] same_as, runs of the earlier code count in their place; the lab keeps them (collapse runs list)", format.Count(n, "run"), name, no)
	} else if len(changed) > 0 {
		how = "with that code"
		why = "whose code was another (" + format.Few(slices.Sorted(maps.Keys(changed)), 3) + ")"
		if line := sameAs(changed, before, items); line != "" {
			how += ", or, if the runs are the same, with this line, and no other same_as, under [trainer]: " + line
		}
	}
	if epochs := horizonChanged(before, items); epochs > 0 {
		why, how = fmt.Sprintf("which were made for %s", format.Count(epochs, "epoch")), "once the number of epochs is as it was"
	}
	if dataChanged(before, items) {
		why, how = "whose data were others", "once the data are as they were"
	}
	left, them, they := "are no longer", "them", "they count"
	if n == 1 {
		left, them, they = "is no longer", "it", "it counts"
	}
	if would {
		left, they = "would no longer be", map[bool]string{true: "it would count", false: "they would count"}[n == 1]
	}
	return fmt.Sprintf("%s of another version of %s, %s, %s part of it; the lab keeps %s (collapse runs list), and %s again %s", format.Count(n, "run"), name, why, left, them, they, how)
}

// CodeChanged reports whether a script's runs before were of other code than the items: none of them will be asked for again.
func CodeChanged(before []store.StudyRun, items []Item) bool {
	return len(changedFiles(outside(begunOf(before), items), items)) > 0
}

// changedFiles are the files that runs of a script had in another form than the study's items have now, or that one of them lacks, with the
// digests in the newest of those runs; "": it had no such file.
func changedFiles(before []store.StudyRun, items []Item) map[string]string {
	changed := map[string]string{}
	if len(items) == 0 || items[0].Spec.Kind != store.Script {
		return nil
	}
	now, err := specOf(items[0].Payload)
	for _, r := range before {
		was, wrong := specOf(r.Payload)
		if err != nil || wrong != nil || r.Kind != store.Script {
			return nil
		}
		maps.Copy(changed, otherCode(was, now))
	}
	return changed
}

// ChangedCode is a file of the code of a study's newest run that is another now in folder, or not there; "" if there is none.
func ChangedCode(folder string, runs []store.StudyRun) string {
	if len(runs) == 0 {
		return ""
	}
	if s, err := specOf(runs[len(runs)-1].Payload); err == nil {
		return s.ChangedIn(folder)
	}
	return ""
}

// IsOf reports whether a run is of the code as it is now.
func (t *Trainer) IsOf(r store.StudyRun) bool {
	s, err := specOf(r.Payload)
	return err == nil && len(otherCode(s, t.spec)) == 0
}

// otherCode are the files of which one run has another version than the other, or none, with the digests of the first.
func otherCode(was, now script.Spec) map[string]string {
	changed, old, new := map[string]string{}, was.CodeInIdentity(), now.CodeInIdentity()
	for _, code := range []map[string]string{old, new} {
		for name := range code {
			if old[name] != new[name] {
				changed[name] = old[name]
			}
		}
	}
	return changed
}

// dataChanged reports whether runs of a script differ from the items in their data, and not in their code.
func dataChanged(before []store.StudyRun, items []Item) bool {
	if len(items) == 0 || items[0].Spec.Kind != store.Script || len(changedFiles(before, items)) > 0 {
		return false
	}
	now, err := specOf(items[0].Payload)
	return err == nil && slices.ContainsFunc(before, func(r store.StudyRun) bool {
		was, err := specOf(r.Payload)
		return err == nil && !slices.Equal(was.Data, now.Data)
	})
}

// horizonChanged is the number of epochs for which all runs of a script were made, if it is not that of the items; otherwise 0.
func horizonChanged(before []store.StudyRun, items []Item) (epochs int) {
	if len(items) == 0 || items[0].Spec.Kind != store.Script || len(changedFiles(before, items)) > 0 {
		return 0
	}
	now, err := specOf(items[0].Payload)
	for _, r := range before {
		was, wrong := specOf(r.Payload)
		if err != nil || wrong != nil || was.Horizon == now.Horizon || epochs > 0 && was.Horizon != epochs {
			return 0
		}
		epochs = was.Horizon
	}
	return epochs
}

// begunOf are the runs that somebody has begun.
func begunOf(runs []store.StudyRun) []store.StudyRun {
	return slices.DeleteFunc(slices.Clone(runs), func(r store.StudyRun) bool { return r.Status == store.Pending })
}

// outside are the runs that are not among items.
func outside(runs []store.StudyRun, items []Item) []store.StudyRun {
	stay := map[string]bool{}
	for _, it := range items {
		stay[it.Hash] = true
		stay[TrialOf(it.Payload).From] = true // which it goes on from
	}
	return slices.DeleteFunc(slices.Clone(runs), func(r store.StudyRun) bool { return stay[r.Hash] })
}

// sameNow reports whether the changed files, with these digests in other runs, are what the items have, too, which count as another by same_as.
func sameNow(changed map[string]string, items []Item) bool {
	spec, err := specOf(items[0].Payload)
	for name, digest := range changed {
		if err != nil || spec.SameAs[name] == "" || spec.Code[name] != digest {
			return false
		}
	}
	return true
}

// mostSame is how many files a line for [trainer] names.
const mostSame = 5

// sameAs is the line for [trainer] with which some of the runs before are among the items; "" if there is none, or it would be long.
func sameAs(changed map[string]string, before []store.StudyRun, items []Item) string {
	if len(changed) > mostSame {
		return ""
	}
	were := map[string]bool{}
	for _, r := range before {
		were[r.Hash] = true
	}
	for _, it := range items {
		spec, err := specOf(it.Payload)
		same := map[string]string{}
		maps.Copy(same, spec.SameAs)
		maps.Copy(same, changed)
		spec.SameAs = same
		hash, _, wrong := spec.Identity()
		if err == nil && wrong == nil && were[hash] {
			var parts []string
			for _, name := range slices.Sorted(maps.Keys(same)) {
				parts = append(parts, fmt.Sprintf("%q = [%q, %q]", name, script.ShortDigest(spec.Code[name]), same[name]))
			}
			return "same_as = { " + strings.Join(parts, ", ") + " }"
		}
	}
	return ""
}

// AsItIs has runs of scripts whose code counts as another by [trainer] same_as be those of the code as it is, where only these have finished: they
// are the same runs.
func AsItIs(lab *store.Reader, items []Item) error {
	for i, it := range items {
		if it.Spec.Kind != store.Script {
			continue
		}
		spec, err := specOf(it.Payload)
		if err != nil || len(spec.SameAs) == 0 {
			continue // a payload that is none fails its run
		}
		spec.SameAs = nil
		plain, err := scriptItem(spec, it.Note)
		if err != nil {
			return err
		}
		done := [2]bool{}
		for k, hash := range []string{it.Hash, plain.Hash} {
			run, err := lab.Run(hash)
			if err != nil && !store.IsNotFound(err) {
				return err
			}
			done[k] = err == nil && run.Status == store.Done
		}
		if done[0] || !done[1] {
			continue
		}
		if head, _, found := strings.Cut(it.Payload, "\n"); found && strings.HasPrefix(head, trialMark) {
			plain.Payload = head + "\n" + plain.Payload
		}
		items[i] = plain
	}
	return nil
}
