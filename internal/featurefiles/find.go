package featurefiles

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"collapse.example/collapse/arrayfile"
)

// NameError says that what a user named is not there, or that it takes a name to tell: another call would do.
type NameError struct{ error }

func (e *NameError) Unwrap() error { return e.error }

func misnamed(format string, args ...any) error { return &NameError{fmt.Errorf(format, args...)} }

// part is one array of one file.
type part struct {
	path  string
	name  string // "" for a .npy
	label string // its name for people, of a .npy that of its file
	list  string // whose item it is; "" for an array of its own
	arrayfile.Array
}

// where names an array in an error message.
func (p part) where() string {
	if p.name == "" {
		return p.path
	}
	return p.path + " (" + p.name + ")"
}

// finder looks arrays up as a request asks.
type finder struct {
	req     *Request
	capture *capture // nil if no folder was named
	lib     library
	common  []*shard            // of Request.Files
	own     [roleCount][]*shard // of the roles' own flags
	taken   map[[2]string]bool  // path and name of arrays that have a role
	notes   []string            // on arrays that were taken without a usual name
	width   int                 // of the features that a classifier belongs to; 0: not known
	labels  *labelled           // of the train samples; nil: not known
}

func (f *finder) openFiles() error {
	var err error
	if f.common, err = f.lib.openAll(Features, f.req.Files); err != nil {
		return err
	}
	for r := range roleCount {
		if f.own[r], err = f.lib.openAll(r, f.req.From[r]); err != nil {
			return err
		}
	}
	return nil
}

// companions are the roles in whose files an array lies that no flag names.
var companions = [roleCount][]Role{
	Labels: {Features}, Weights: {Features}, Bias: {Weights, Features}, TestLabels: {TestFeatures}, TrueLabels: {Features, Labels}, Corrupted: {Features, Labels},
}

// find returns the arrays of a role: from the files that its own flag names, else from those given
// for everything, else from the files of the role it accompanies. None is not an error.
func (f *finder) find(r Role) ([]part, error) {
	if len(f.own[r]) > 0 {
		return f.take(r, f.own[r], true)
	}
	parts, err := f.take(r, f.common, false)
	if err != nil || len(parts) > 0 {
		return parts, err
	}
	for _, companion := range companions[r] {
		if parts, err = f.take(r, f.own[companion], false); err != nil || len(parts) > 0 {
			return parts, err
		}
	}
	if key := f.req.Keys[r]; key != "" {
		return nil, misnamed("%s: no file holds an array %q%s", r.keyFlag(), key, f.holdings(r))
	}
	return nil, nil
}

// holdings says what the first file has that was searched for a role.
func (f *finder) holdings(r Role) string {
	for _, files := range [][]*shard{f.common, f.own[Features]} {
		if len(files) > 0 {
			return fmt.Sprintf("; %s has %s", files[0].path, files[0].contents())
		}
	}
	return "; no file was named that could; give " + roles[r].flag
}

// take picks at most one array from each file. mine says that the role's own flag names the files: each
// must hold one, and a lone array needs no usual name.
func (f *finder) take(r Role, files []*shard, mine bool) ([]part, error) {
	var out []part
	for _, s := range files {
		c, err := f.choose(s, r, mine)
		switch {
		case err != nil:
			return nil, err
		case c.names == nil && mine && s.index == "": // of a list, each file holds some of the arrays
			return nil, f.unknown(s, r)
		case c.names == nil:
			continue
		}
		parts, err := f.chosen(s, r, c)
		if err != nil {
			return nil, err
		}
		for _, name := range c.names {
			f.taken[[2]string{s.path, name}] = true
		}
		out = append(out, parts...)
	}
	if mine && len(out) == 0 {
		return nil, f.unknown(files[0], r)
	}
	return out, nil
}

// choice is what a file has for a role: one array, several that hold rows below each other (batches), or columns beside each other.
type choice struct {
	names   []string // nil: nothing
	title   string   // of batches or columns
	columns bool
}

// choose returns the arrays of a role in a file.
func (f *finder) choose(s *shard, r Role, mine bool) (choice, error) {
	headers := s.file.Headers()
	if key := f.req.Keys[r]; key != "" {
		return f.keyed(s, r, key)
	}
	own := mine || r == TestLabels && slices.Contains(f.own[TestFeatures], s)
	if err := s.refused(r, own, mine); err != nil {
		return choice{}, err
	}
	if mine && len(headers) == 1 {
		return choice{names: []string{headers[0].Name}}, nil
	}
	for _, is := range []func(string, bool) bool{r.recognises, r.mayBe} {
		hits := f.hits(s, own, func(h arrayfile.Header) bool { return is(s.label(h), own) })
		if len(hits) > 1 {
			return choice{}, s.several(r, hits)
		}
		if len(hits) == 1 {
			return choice{names: hits}, nil
		}
		if c := s.batches(r, mine, func(name string) bool { return is(name, own) }); c.names != nil {
			return c, nil
		}
		if c := s.inRecords(r, func(name string) bool { return is(name, own) }); c.names != nil {
			return c, nil
		}
	}
	return f.fitting(s, r, mine), nil
}

// hits are the arrays of a file that satisfy a condition and have no role yet.
func (f *finder) hits(s *shard, own bool, is func(arrayfile.Header) bool) (names []string) {
	for _, h := range s.file.Headers() {
		if (own || !f.taken[[2]string{s.path, h.Name}]) && is(h) {
			names = append(names, h.Name)
		}
	}
	return names
}

func (s *shard) several(r Role, hits []string) error {
	hint := "keep one of them in the file"
	if r.HasKeyFlag() {
		hint = "say which with " + r.keyFlag() + " NAME"
	}
	return misnamed("%s: several arrays could be the %s: %s; %s", s.path, r, strings.Join(hits, ", "), hint)
}

// refused returns why an array cannot be read that has the name of a role: it must not vanish. mine says that the role's own
// flag names the file, where a lone array needs no name.
func (s *shard) refused(r Role, own, mine bool) error {
	list := s.file.Refused()
	for _, x := range list {
		name := s.label(arrayfile.Header{Name: x.Name})
		if r.recognises(name, own) || mine && len(list) == 1 && len(s.file.Headers()) == 0 {
			if hint := " (say which array to take instead with " + r.keyFlag() + " NAME)"; r.HasKeyFlag() && len(s.file.Headers()) > 0 {
				return fmt.Errorf("%s (%s): the %s cannot be read: %w%s", s.path, name, r, x.Err, hint)
			}
			return fmt.Errorf("%s (%s): the %s cannot be read: %w", s.path, name, r, x.Err)
		}
	}
	return nil
}

// refusedKey is refused for an array that a user named.
func (s *shard) refusedKey(r Role, key string) error {
	for _, x := range s.file.Refused() {
		if s.label(arrayfile.Header{Name: x.Name}) == key {
			return fmt.Errorf("%s (%s): the %s cannot be read: %w", s.path, key, r, x.Err)
		}
	}
	return nil
}

// bare reports whether a file is a .npy, whose one array has no name.
func (s *shard) bare() bool {
	headers := s.file.Headers()
	return len(headers) == 1 && headers[0].Name == ""
}

func (s *shard) load(name string) (part, error) {
	a, err := s.file.Load(name)
	if err != nil {
		return part{}, err
	}
	return part{path: s.path, name: name, label: s.label(a.Header), Array: a}, nil
}

// named returns the array of one name from every file, nil if no file has it. A .npy is a layer of its own, called as its file is.
func named(files []*shard, name string) ([]part, error) {
	var out []part
	for _, s := range files {
		if err := s.damaged(func(x string) bool { return x == name }); err != nil {
			return nil, err
		}
		for _, h := range s.file.Headers() {
			if s.label(h) != name {
				continue
			}
			p, err := s.load(h.Name)
			if err != nil {
				return nil, err
			}
			out = append(out, p)
		}
	}
	if len(out) > 0 && len(out) < len(files) && out[0].name != "" {
		return nil, fmt.Errorf("layer %q is in %d of %d files; %s is the first that has it", name, len(out), len(files), out[0].path)
	}
	return out, nil
}

// damaged returns an error for an array that is not whole and whose name is asked for: as a layer it would be missing without a word.
func (s *shard) damaged(asked func(name string) bool) error {
	for _, x := range s.file.Refused() {
		if x.Damaged && asked(x.Name) {
			return fmt.Errorf("%s (%s): this layer cannot be read: %w", s.path, x.Name, x.Err)
		}
	}
	return nil
}

// layerNames returns the names that a pattern matches, in natural order. A * matches everything, also
// dots and slashes.
func layerNames(files []*shard, pattern string) ([]string, error) {
	flat := strings.NewReplacer("/", "\x01").Replace
	var out []string
	for _, s := range files {
		err := s.damaged(func(x string) bool {
			ok, err := path.Match(flat(pattern), flat(x))
			return ok && err == nil
		})
		if err != nil {
			return nil, err
		}
		for _, h := range s.file.Headers() {
			name := s.label(h)
			ok, err := path.Match(flat(pattern), flat(name))
			if err != nil {
				return nil, misnamed("--layers %q: %w", pattern, err)
			}
			if ok && h.DType.IsFloat() && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	if len(out) == 0 {
		return nil, misnamed("--layers: no floating-point array matches %q; %s has %s", pattern, files[0].path, files[0].contents())
	}
	slices.SortFunc(out, natural)
	return out, nil
}
