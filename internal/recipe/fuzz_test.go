package recipe

import (
	"testing"
)

// FuzzParse gives the loader any text as a recipe.
func FuzzParse(f *testing.F) {
	f.Add([]byte("id = \"x\"\ntitle = \"X\"\npaper = \"p\"\n[[panel]]\n"))
	f.Add([]byte("id = \"x\"\n[grid]\n\"optim.lr\" = [0.1, 0.2]\n"))
	f.Add([]byte(descent))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<13 {
			t.Skip("larger recipes say nothing new and are slow to make smaller")
		}
		r, err := Parse("x.toml", text)
		if err == nil && (r.ID == "" || r.Title == "" || r.Paper == "") {
			t.Errorf("accepted without id, title or paper: %q", text)
		}
	})
}
