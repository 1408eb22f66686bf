package chart

import "testing"

// TestTextsThatTheBoldFaceLacksAreNotBold: they have the width of the other face, in which they are drawn.
func TestTextsThatTheBoldFaceLacksAreNotBold(t *testing.T) {
	plain, bold := face{size: 20}, face{size: 20, bold: true}
	for text, isBold := range map[string]bool{"Größe λ ≤ 0.2 √NC1 → Жук": true, "კლასი": false, "♠ and more": false, "vᵀ ⟨a, b⟩": true, "": true} {
		if got := bold.width(text) != plain.width(text) || text == ""; got != isBold {
			t.Errorf("%q: bold %t", text, got)
		}
	}
}

// TestTextsThatAreNotDrawnAreBoxes: of alphabets and signs all is drawn, of pictures and syllabaries nothing.
func TestTextsThatAreNotDrawnAreBoxes(t *testing.T) {
	for text, want := range map[string]string{"Größe λ ≤ √η → Жук ✓ ★ ⟨ℝ⟩ კლასი שלום": "Größe λ ≤ √η → Жук ✓ ★ ⟨ℝ⟩ კლასი שלום", "♠ 漢字 ⠿ a": "□ □□ □ a", "": ""} {
		if got := drawable(text); got != want {
			t.Errorf("%q is drawn as %q, wanted %q", text, got, want)
		}
		plain := face{size: 12}
		if plain.width(text) != plain.width(want) {
			t.Errorf("%q is not as wide as what is drawn of it", text)
		}
	}
}
