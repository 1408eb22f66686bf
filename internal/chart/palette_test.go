package chart

import (
	"testing"

	"github.com/lucasb-eyer/go-colorful"
)

// visions are the matrices of Machado, Oliveira & Fernandes 2009, Table 1, severity 1, for linear RGB.
var visions = map[string][3][3]float64{
	"trichromacy":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// seen is a colour as a reader sees it.
func seen(v uint32, m [3][3]float64) colorful.Color {
	r, g, b := colorful.Color{R: float64(v>>16) / 255, G: float64(v>>8&255) / 255, B: float64(v&255) / 255}.LinearRgb()
	var out [3]float64
	for i, row := range m {
		out[i] = min(max(row[0]*r+row[1]*g+row[2]*b, 0), 1)
	}
	return colorful.LinearRgb(out[0], out[1], out[2])
}

// TestColoursAreToldApart measures all pairs of data colours, and each of them with the inks, for readers with every kind of vision.
func TestColoursAreToldApart(t *testing.T) {
	for _, dark := range []bool{false, true} {
		for name, m := range visions {
			least := 100.0
			for a := Color(1); a <= DataColors; a++ {
				for b := Muted; b < a; b++ {
					d := 100 * seen(a.in(dark), m).DistanceCIEDE2000(seen(b.in(dark), m))
					if least = min(least, d); !(d >= 10) {
						t.Errorf("dark %v, %s: colours %d (#%06x) and %d (#%06x) differ by %.1f", dark, name, a, a.in(dark), b, b.in(dark), d)
					}
				}
			}
			t.Logf("dark %v, %s: at least %.1f", dark, name, least)
		}
	}
}
