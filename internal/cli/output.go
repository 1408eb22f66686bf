package cli

import (
	"encoding/json"
	"fmt"
)

// emit prints v as the command's one JSON document if --json was given, else the text that
// human writes.
func (a *app) emit(v any, human func()) error {
	if !a.flags.JSON {
		human()
		return nil
	}
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON to standard output: %w", err)
	}
	return nil
}

// printf prints results for people.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.stdout, format, args...) }

// notef prints a message that is not a result.
func (a *app) notef(format string, args ...any) { fmt.Fprintf(a.stderr, format, args...) }
