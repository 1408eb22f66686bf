package data

// The classes of glyphs, in their order: 0…9 are the digits, drawn from every face; then each
// symbol in the proportional faces; then each symbol in the monospaced faces, which have slabs. A
// class is the same whatever the number of classes asked.
//
// glyphSymbols leaves out what a warp of the sizes in glyphDraw turns into something else: O, Ø, ø and 0,
// I and l, c and C, ^ and Λ, × and X. Its order is part of every result: append only.
var glyphSymbols = []rune("ABCDEFGHJKLMNPQRSTUVWXYZ" + "abdefghijmnqrty" +
	"ΓΔΘΛΞΠΣΦΨΩαβγδεζλμξπςσω" + "БДЖИЦЧШЪЫЭЮЯ" + "ÆŒÞæð" +
	"#$%&?@!+=<>/\\()[]{}*~§¶©®€£¥¢†‡÷±≠≤≥≈∞∫√∩≡←↑→↓↔↕◊□■▲►▼◄☺☻☼♀♂♠♣♥♦♪♫")

// MaxGlyphClasses is the number of classes that glyphs can have: the digits and twice the symbols.
const MaxGlyphClasses = 298

// glyphClass returns the symbol of a class and the range of glyphFaces that it is drawn from.
func glyphClass(class int) (symbol rune, firstFace, endFace int) {
	n := len(glyphSymbols)
	switch {
	case class < 10:
		return '0' + rune(class), 0, len(glyphFaces)
	case class < 10+n:
		return glyphSymbols[class-10], 0, monoFace
	}
	return glyphSymbols[class-10-n], monoFace, len(glyphFaces)
}
