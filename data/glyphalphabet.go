package data

// The classes of glyphs, in their order: 0…9 are the digits, drawn from every face; then each of
// glyphSymbols in the proportional faces; then each of glyphSlabs in the monospaced faces. A class
// does not depend on the number of classes requested. Class numbers are part of every result, so
// neither list may change.
//
// Left out are symbols that a warp of the sizes in glyphDraw turns into others: O or ø and 0, I and
// l, c and C, × and X, Λ and A, ! and i.
var glyphSymbols = []rune("ABCDEFGHJKLMNPQRSTUVWXYZ" + "abdefghimnqrty" +
	"ΓΔΘΞΠΣΦΨΩαβγδεζλμξπςσω" + "БДЖИЦЧШЪЫЭЮЯ" + "ÆŒÞæð" +
	"#$%&?@+=<>()[]{}*~§¶©®€£¥¢†‡÷±≠≤≥≈∞√∩≡←↑→↓↔◊□■▲►▼◄☺☻☼♀♂♠♣♥♦♪♫")

// glyphSlabs are the symbols to which slabs or a narrow width give another shape in the monospaced
// faces, whatever the thickness of their strokes. TestGlyphClasses checks by how much.
var glyphSlabs = []rune("ABCDEFGHJKLMNPQRSTUVWXY" + "fimrt" + "ΓΘΞΠΦΨΩεπω" + "БЖИЦЧШЪЫЭЮЯ" + "ÆŒÞæ" + "%@©®")

// MaxGlyphClasses is the number of classes that glyphs can have.
const MaxGlyphClasses = 205

// glyphClass returns the symbol of a class and the range of glyphFaces that it is drawn from.
func glyphClass(class int) (symbol rune, firstFace, endFace int) {
	if class < 10 {
		return '0' + rune(class), 0, len(glyphFaces)
	}
	class -= 10
	if class < len(glyphSymbols) {
		return glyphSymbols[class], 0, monoFace
	}
	return glyphSlabs[class-len(glyphSymbols)], monoFace, len(glyphFaces)
}
