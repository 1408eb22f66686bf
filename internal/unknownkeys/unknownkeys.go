// Package unknownkeys says which keys of a TOML file nothing reads, and which known ones they are near.
package unknownkeys

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/spelling"
)

// In names the unknown keys of a TOML file that is decoded into a type, with their lines and the nearest known key, else all keys of their table.
func In(strict *toml.StrictMissingError, into reflect.Type) error {
	var errs []error
	for i := range strict.Errors {
		e := &strict.Errors[i]
		line, _ := e.Position()
		key := e.Key()
		last := len(key) - 1
		known := keysAt(into, key[:last])
		hint := spelling.Suggestion(key[last], known)
		if hint == "" && last > 0 && len(known) > 0 {
			hint = fmt.Sprintf("; [%s] has %s", strings.Join(key[:last], "."), strings.Join(known, ", "))
		}
		errs = append(errs, fmt.Errorf("line %d: unknown key %s%s", line, strings.Join(key, "."), hint))
	}
	return errors.Join(errs...)
}

// keysAt are the keys of the table at a path within the type that TOML is decoded into.
func keysAt(t reflect.Type, path []string) (keys []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name == "" && f.IsExported() && !f.Anonymous {
			name = strings.ToLower(f.Name) // the decoder takes it in any case
		}
		switch {
		case name == "" || name == "-":
		case len(path) == 0:
			keys = append(keys, name)
		case name == path[0]:
			return keysAt(f.Type, path[1:])
		}
	}
	return keys
}
