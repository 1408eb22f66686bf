package featurefiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/internal/inputfile"
)

// capture is a folder that python/collapse wrote: tap.json, and for each stream a folder of shards or a state.
type capture struct {
	folder     string
	streams    []string // in the order the model ran
	states     bool     // no samples are kept
	classifier bool
	bias       bool
}

const (
	captureInfo   = "tap.json"
	captureFormat = "collapse_tap 1"
	statesFormat  = "collapse_tap 2" // of keep="states"
	mostInfo      = 16 << 20         // bytes of tap.json
	layerFolder   = "layers/"
)

// captureRoles says which stream of a capture has which role.
var captureRoles = []struct {
	stream string
	role   Role
}{{"features", Features}, {"labels", Labels}, {"true_labels", TrueLabels}, {"corrupted", Corrupted}}

// fromCapture replaces the folder of a capture among the files by the files of its streams, for roles that no flag names; nil if there is
// none.
func fromCapture(req *Request) (*capture, error) {
	if len(req.Files) != 1 {
		return nil, nil
	}
	if !isFolder(req.Files[0]) {
		return nil, nil
	}
	c := &capture{folder: req.Files[0]}
	if is, err := exists(filepath.Join(c.folder, captureInfo)); err != nil || !is {
		return nil, err // what else it is openAll finds
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	if c.states {
		return nil, fmt.Errorf("%s: this capture holds states, which keep no samples, and samples are needed here; capture with keep=\"features\"", c.folder)
	}
	return c, c.name(req)
}

// name puts the files of the streams into a request in place of the folder.
func (c *capture) name(req *Request) (err error) {
	req.Files = nil
	for _, x := range captureRoles {
		if len(req.From[x.role]) > 0 || !slices.Contains(c.streams, x.stream) {
			continue
		}
		if req.From[x.role], err = c.shards(x.stream); err != nil {
			return err
		}
	}
	if len(req.From[Weights]) == 0 {
		c.nameClassifier(req, len(req.From[Bias]) == 0)
	}
	if len(req.From[Features]) == 0 && req.Layers == "" {
		req.Layers = "*"
	}
	return nil
}

// nameClassifier adds the files of the classifier, if the capture has one, to those of a request; bias says whether its bias, too.
func (c *capture) nameClassifier(req *Request, bias bool) {
	if !c.classifier {
		return
	}
	req.From[Weights] = append(req.From[Weights], filepath.Join(c.folder, "weight.npy"))
	if c.bias && bias {
		req.From[Bias] = append(req.From[Bias], filepath.Join(c.folder, "bias.npy"))
	}
}

// read reads tap.json.
func (c *capture) read() error {
	name := filepath.Join(c.folder, captureInfo)
	text, err := inputfile.Read(name, mostInfo)
	if errors.Is(err, fs.ErrNotExist) {
		return unreadFolder(c.folder)
	}
	if err != nil {
		return err
	}
	var info struct {
		Format     string
		Complete   bool
		Error      *string
		Classifier *string
		Bias       *bool
		Streams    json.RawMessage
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if info.Format != captureFormat && info.Format != statesFormat {
		return fmt.Errorf("%s: the format is %q, this program reads %q and %q; use the Python package of the same version", name, info.Format, captureFormat, statesFormat)
	}
	if c.states = info.Format == statesFormat; !info.Complete {
		why := "it says no more"
		if info.Error != nil {
			why = *info.Error
		}
		files := "name the shards with --features and --labels"
		if c.states {
			files = "name the states with --merge"
		}
		return fmt.Errorf("%s: the capture is incomplete (%s); capture again, or %s", name, why, files)
	}
	if c.streams, err = keysInOrder(info.Streams); err != nil {
		return fmt.Errorf("%s: streams: %w", name, err)
	}
	for _, stream := range c.streams {
		if rest := strings.TrimPrefix(stream, layerFolder); rest == "" || strings.ContainsAny(rest, `/\`) || !filepath.IsLocal(rest) {
			return fmt.Errorf("%s: stream %q is not the name of a folder inside the capture", name, stream)
		}
	}
	c.classifier, c.bias = info.Classifier != nil, info.Bias != nil && *info.Bias
	return nil
}

// keysInOrder returns the keys of a JSON object in the order they are written.
func keysInOrder(object []byte) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("an object is wanted, found %.40q", object)
	}
	var keys []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		keys = append(keys, fmt.Sprint(key))
	}
	return keys, nil
}

// shards lists the files of a stream, in order.
func (c *capture) shards(stream string) ([]string, error) {
	folder := filepath.Join(c.folder, filepath.FromSlash(stream))
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: the stream %q of the capture cannot be read: %w", c.folder, stream, err)
	}
	var out []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".npy" {
			out = append(out, filepath.Join(folder, e.Name()))
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%s: the stream %q of the capture has no .npy file", c.folder, stream)
	}
	slices.SortFunc(out, natural)
	return out, nil
}

// layer is a layer of a capture.
type layer struct{ name, stream string }

// layers returns those whose name matches, in the order the model ran.
func (c *capture) layers(pattern string) ([]layer, error) {
	var out []layer
	var all []string
	for _, stream := range c.streams {
		quoted, ok := strings.CutPrefix(stream, layerFolder)
		if !ok {
			continue
		}
		name, err := url.PathUnescape(quoted)
		if err != nil {
			return nil, fmt.Errorf("%s: stream %q: %w", c.folder, stream, err)
		}
		plain := strings.NewReplacer("/", "\x00") // to path.Match a / is special, in a module's name it is not
		hit, err := path.Match(plain.Replace(pattern), plain.Replace(name))
		if err != nil {
			return nil, fmt.Errorf("--layers %q: %w", pattern, err)
		}
		if all = append(all, name); hit {
			out = append(out, layer{name, stream})
		}
	}
	if out == nil {
		return nil, fmt.Errorf("--layers %q: the capture %s has no such layer; it has %q", pattern, c.folder, all)
	}
	return out, nil
}

// captured adds a column for each layer of a capture, then one for the classifier's input, to which alone the classifier belongs.
func (f *finder) captured(s *Set) error {
	list, err := f.capture.layers(f.req.Layers)
	if err != nil {
		return err
	}
	add := func(name string, shards []*shard, head bool) error {
		parts, err := f.take(Features, shards, true)
		if err != nil {
			return err
		}
		m, err := s.matrix(Features, parts)
		if err != nil {
			return err
		}
		s.Columns = append(s.Columns, Column{Name: name, N: m.rows(), D: m.d, Classifier: head, train: m})
		return nil
	}
	for _, l := range list {
		paths, err := f.capture.shards(l.stream)
		if err != nil {
			return err
		}
		files, err := f.lib.openAll(Features, paths)
		if err != nil {
			return err
		}
		if err := add(l.name, files, false); err != nil {
			return err
		}
	}
	if len(f.own[Features]) > 0 {
		return add("features", f.own[Features], true)
	}
	return nil
}
