package study

import (
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/train"
)

func (f *File) override(overrides []string, bad *FileError) {
	for _, o := range overrides {
		key, value, found := strings.Cut(o, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found || key == "" {
			bad.add("--set %q: wanted section.key=value", o)
			continue
		}
		f.set = append(f.set, o)
		value, ok := f.asInFile(key, value, bad)
		if !ok {
			continue
		}
		values, isList, err := train.Axis(key, value)
		inGrid := slices.ContainsFunc(f.axes, func(a axis) bool { return a.key == key })
		switch {
		case err != nil:
			bad.add("--set %s: not a list of values: %v", o, err)
		case isList:
			f.setAxis(key, values, bad)
		case inGrid:
			f.axes = append(slices.DeleteFunc(f.axes, func(a axis) bool { return a.key == key }), axis{key, []string{value}})
		default:
			f.base = append(f.base, key+"="+value)
		}
	}
}

// numbers reports whether a text is several numbers with commas between them.
func numbers(text string) bool {
	parts := strings.Split(text, ",")
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool {
		_, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		return err != nil
	})
}

// asInFile is a value by hand in the type that a script's setting has in the file: text stays text, whatever it looks like.
func (f *File) asInFile(key, value string, bad *FileError) (string, bool) {
	if f.Trainer == nil || strings.HasPrefix(value, "[") {
		return value, true
	}
	now := ""
	for _, setting := range f.base {
		if k, v, _ := strings.Cut(setting, "="); k == key {
			now = v
		}
	}
	for _, a := range f.axes {
		if a.key == key && len(a.values) > 0 {
			now = a.values[0]
		}
	}
	if now == "" && slices.Contains([]string{"seeds", "study.seeds"}, key) {
		bad.add("--set %s=%s: it is no setting of the file; --seeds %s gives the study seeds", key, value, value)
		return value, false
	}
	was, _, err1 := train.Axis("", now)
	is, _, err2 := train.Axis("", value)
	if now == "" || err1 != nil || err2 != nil {
		return value, true
	}
	_, truth := was[0].(bool)
	_, true2 := is[0].(bool)
	_, text := was[0].(string)
	_, text2 := is[0].(string)
	switch {
	case truth && !true2:
		bad.add("--set %s=%s: it is %s in the file; wanted true or false", key, value, now)
		return value, false
	case text && !text2:
		return train.Literal(value), true
	case !text && text2 && numbers(value):
		bad.add("--set %s=%s: it is %s in the file; several values are a list: --set '%s=[%s]'", key, value, now, key, value)
		return value, false
	case !text && value == "":
		bad.add("--set %s=: it is %s in the file; wanted a value", key, now)
		return value, false
	}
	return value, true
}
