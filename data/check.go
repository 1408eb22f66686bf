package data

import "errors"

// State is Check's result for one half of a data set.
type State string

const (
	Present State = "present"
	Missing State = "missing" // a file does not exist
	Broken  State = "broken"  // the files exist but something is wrong with them
)

// Finding is Check's report on one half of a named data set.
type Finding struct {
	Name      string `json:"name"`
	Split     string `json:"split"`
	State     State  `json:"state"`
	Samples   int    `json:"samples,omitempty"`
	Official  int    `json:"official,omitempty"`  // samples of the official files
	Shape     []int  `json:"shape,omitempty"`     // channels, height, width
	Histogram []int  `json:"histogram,omitempty"` // samples of each class
	Digest    string `json:"digest,omitempty"`    // of the whole half
	Problem   string `json:"problem,omitempty"`   // what is missing or broken, and what to do
}

// Check opens both halves of every named data set below root ("": environment COLLAPSE_DATA), reads
// all of it and reports. Of the built-in set it draws the default sizes; a folder of images is only
// reported where there is one.
func Check(root string) []Finding {
	var found []Finding
	for _, info := range registry {
		for _, split := range []Split{Train, Test} {
			f := check(Source{Name: info.Name, Root: root}, split)
			if f.Official = info.Official[split]; info.Name != folderName || f.State != Missing { // a root need not be a folder of images
				found = append(found, f)
			}
		}
	}
	return found
}

func check(src Source, split Split) Finding {
	f := Finding{Name: src.Name, Split: split.String(), State: Present}
	s, err := Open(src, split)
	var missing *MissingError
	switch {
	case errors.As(err, &missing):
		f.State, f.Problem = Missing, err.Error()
	case err != nil:
		f.State, f.Problem = Broken, err.Error()
	default:
		f.Samples, f.Histogram, f.Digest = s.N(), s.Counts(), s.Digest
		f.Shape = []int{s.Shape.C, s.Shape.H, s.Shape.W}
	}
	return f
}
