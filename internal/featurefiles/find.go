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
	path string
	name string // "" for a .npy
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
		name, ok, err := f.choose(s, r, mine)
		switch {
		case err != nil:
			return nil, err
		case !ok && mine:
			return nil, s.unknown(r)
		case !ok:
			continue
		}
		p, err := s.load(name)
		if err != nil {
			return nil, err
		}
		f.taken[[2]string{s.path, name}] = true
		out = append(out, p)
	}
	return out, nil
}

// choose returns the name of the role's array in a file.
func (f *finder) choose(s *shard, r Role, mine bool) (name string, ok bool, err error) {
	headers := s.file.Headers()
	if key := f.req.Keys[r]; key != "" {
		i := slices.IndexFunc(headers, func(h arrayfile.Header) bool { return s.label(h) == key })
		if i < 0 {
			return "", false, s.refusedKey(r, key)
		}
		return headers[i].Name, true, nil
	}
	own := mine || r == TestLabels && slices.Contains(f.own[TestFeatures], s)
	if err := s.refused(r, own, mine); err != nil {
		return "", false, err
	}
	if mine && len(headers) == 1 {
		return headers[0].Name, true, nil
	}
	var hits []string
	for _, is := range []func(string, bool) bool{r.recognises, r.mayBe} {
		for _, h := range headers {
			if is(s.label(h), own) && (own || !f.taken[[2]string{s.path, h.Name}]) {
				hits = append(hits, h.Name)
			}
		}
		if len(hits) > 0 {
			break
		}
	}
	switch len(hits) {
	case 0:
		return "", false, nil
	case 1:
		return hits[0], true, nil
	}
	hint := "keep one of them in the file"
	if r.HasKeyFlag() {
		hint = "say which with " + r.keyFlag() + " NAME"
	}
	return "", false, misnamed("%s: several arrays could be the %s: %s; %s", s.path, r, strings.Join(hits, ", "), hint)
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

// unknown says that a file holds no array for a role.
func (s *shard) unknown(r Role) error {
	hint := ""
	if r.HasKeyFlag() {
		hint = "; say which with " + r.keyFlag() + " NAME"
	}
	return misnamed("%s: no array is named as %s usually are (%s); it has %s%s",
		s.path, r, strings.Join(roles[r].usual[:min(4, len(roles[r].usual))], ", "), s.contents(), hint)
}

func (s *shard) load(name string) (part, error) {
	a, err := s.file.Load(name)
	if err != nil {
		return part{}, err
	}
	return part{s.path, name, a}, nil
}

// named returns the array of one name from every file, nil if no file has it.
func named(files []*shard, name string) ([]part, error) {
	var out []part
	for _, s := range files {
		if err := s.damaged(func(x string) bool { return x == name }); err != nil {
			return nil, err
		}
		for _, h := range s.file.Headers() {
			if h.Name != name {
				continue
			}
			p, err := s.load(name)
			if err != nil {
				return nil, err
			}
			out = append(out, p)
		}
	}
	if len(out) > 0 && len(out) < len(files) {
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
			ok, err := path.Match(flat(pattern), flat(h.Name))
			if err != nil {
				return nil, misnamed("--layers %q: %w", pattern, err)
			}
			if ok && h.DType.IsFloat() && !slices.Contains(out, h.Name) {
				out = append(out, h.Name)
			}
		}
	}
	if len(out) == 0 {
		return nil, misnamed("--layers: no floating-point array matches %q; %s has %s", pattern, files[0].path, files[0].contents())
	}
	slices.SortFunc(out, natural)
	return out, nil
}
