package format

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Setting is the text of a setting's value that is no number: a text as it is, a list or table as JSON, so that different lists have different texts.
func Setting(v any) string {
	switch v.(type) {
	case []any, map[string]any:
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(v) == nil {
			return string(bytes.TrimRight(b.Bytes(), "\n"))
		}
	}
	return fmt.Sprint(v)
}
