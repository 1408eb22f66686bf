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
