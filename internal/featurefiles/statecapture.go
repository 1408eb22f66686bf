package featurefiles

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"collapse.example/collapse/internal/inputfile"
)

// StateColumn is what merged states say of the classifier's input, or of a layer.
type StateColumn struct {
	Name string
	*OnePass
}

const (
	stateFile = ".ncs" // behind the name of a stream
	inputName = "features"
)

// HoldStates reports whether all that is named are folders of states, as python/collapse writes them, whole or not. Patterns are those of
// Request.Files.
func HoldStates(patterns []string) bool {
	paths, err := expand(Features, patterns)
	if err != nil || len(paths) == 0 {
		return false
	}
	for _, path := range paths {
		c := capture{folder: path}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return false
		} else if _ = c.read(); !c.states {
			return false
		}
	}
	return true
}

// MergeStates merges state files, or the states of several captures stream by stream: a column for each layer that
// Request.Layers matches, in the order the model ran, and then one for the classifier's input, to which alone the classifier belongs.
func MergeStates(req Request) ([]StateColumn, error) {
	captures, err := stateCaptures(req.Files)
	if err != nil {
		return nil, err
	}
	if captures == nil {
		one, err := Merge(req)
		return []StateColumn{{inputName, one}}, err
	}
	layers, err := sharedLayers(captures, req.Layers)
	if err != nil {
		return nil, err
	}
	var out []StateColumn
	for _, l := range layers {
		of := req
		of.From[Weights], of.From[Bias] = nil, nil
		one, err := mergeStream(of, captures, l.stream)
		if err != nil {
			return nil, err
		}
		out = append(out, StateColumn{l.name, one})
	}
	if slices.Contains(captures[0].streams, inputName) {
		if len(req.From[Weights]) == 0 {
			bias := len(req.From[Bias]) == 0
			for _, c := range captures {
				c.nameClassifier(&req, bias)
			}
		}
		one, err := mergeStream(req, captures, inputName)
		if err != nil {
			return nil, err
		}
		out = append(out, StateColumn{inputName, one})
	}
	return out, sameClasses(out)
}

// stateCaptures reads the descriptions of folders; nil if what is named are files.
func stateCaptures(patterns []string) ([]*capture, error) {
	paths, err := expand(Features, patterns)
	if err != nil {
		return nil, err
	}
	var out []*capture
	for _, path := range paths {
		if !isFolder(path) {
			continue
		}
		c := &capture{folder: path}
		if err := c.read(); err != nil {
			return nil, err
		}
		if !c.states {
			return nil, fmt.Errorf("%s: this capture holds features; states are merged here (keep=\"states\"), and captures of features are measured one by one", path)
		}
		out = append(out, c)
	}
	if out != nil && len(out) < len(paths) {
		return nil, fmt.Errorf("%s is a folder, and other states are files; want the folders of captures, or files alone", out[0].folder)
	}
	return out, nil
}

// sharedLayers returns the layers that match a pattern; "" is none, or all where the classifier's input was not taken. All captures must have them.
func sharedLayers(captures []*capture, pattern string) ([]layer, error) {
	first := captures[0]
	for _, c := range captures[1:] {
		if !slices.Equal(slices.Sorted(slices.Values(c.streams)), slices.Sorted(slices.Values(first.streams))) {
			return nil, fmt.Errorf("%s has the streams %q, and %s has %q; want captures of one model with the same layers", first.folder, first.streams, c.folder, c.streams)
		}
	}
	if pattern == "" && slices.Contains(first.streams, inputName) {
		return nil, nil
	}
	if pattern == "" {
		pattern = "*"
	}
	return first.layers(pattern)
}

// mergeStream merges the states of one stream.
func mergeStream(req Request, captures []*capture, stream string) (*OnePass, error) {
	req.Files = nil
	for _, c := range captures {
		req.Files = append(req.Files, filepath.Join(c.folder, filepath.FromSlash(stream))+stateFile)
	}
	if err := differ(req.Files); err != nil {
		return nil, err
	}
	return Merge(req)
}

// differ refuses two states with one checksum: processes that all saw the same samples would count them several times.
func differ(paths []string) error {
	seen := map[[sha256.Size]byte]string{}
	for _, path := range paths {
		sum, err := checksum(path)
		if err != nil {
			return err
		}
		if other, is := seen[sum]; is {
			return fmt.Errorf("%s and %s are the same state, so that their samples would count twice; give every process samples of its own (DistributedSampler), or name one of the captures", other, path)
		}
		seen[sum] = path
	}
	return nil
}

// checksum returns the last bytes of a state, which are its checksum; whether they are is for its reader to find out.
func checksum(path string) (sum [sha256.Size]byte, err error) {
	f, err := inputfile.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return sum, err
	}
	if _, err := f.ReadAt(sum[:], max(0, info.Size()-int64(len(sum)))); err != nil && err != io.EOF {
		return sum, err
	}
	return sum, nil
}

// sameClasses refuses columns whose classes have other labels: a report names classes once for all.
func sameClasses(columns []StateColumn) error {
	for _, c := range columns {
		if !slices.Equal(c.Moments.Values, columns[0].Moments.Values) {
			return fmt.Errorf("the states of %q and %q have different classes; capture all layers in one pass", columns[0].Name, c.Name)
		}
	}
	return nil
}
