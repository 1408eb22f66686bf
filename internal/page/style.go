package page

import "strings"

// Style is the style sheet of this package's pages, in parts, for the live pages: the custom properties of each theme and the
// rules that use them.
type Style struct{ Light, Dark, Rules string }

// PageStyle returns the style sheet of this package's pages.
func PageStyle() Style {
	part := func(name string) string {
		var b strings.Builder
		if err := templates().ExecuteTemplate(&b, name, nil); err != nil {
			panic("page: an embedded style cannot be read")
		}
		return b.String()
	}
	return Style{Light: part("light"), Dark: part("dark"), Rules: part("rules")}
}
