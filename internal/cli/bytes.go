package cli

import (
	"math"
	"strconv"
	"strings"
)

// parseBytes reads a size such as 800MB, 1.5 GiB or 1000000; false if s is not a size, or zero.
func parseBytes(text string) (int64, bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(text)
	}
	v, err := strconv.ParseFloat(text[:end], 64)
	unit := strings.ToUpper(strings.TrimSpace(text[end:]))
	if err != nil || len(unit) > 3 {
		return 0, false
	}
	base := 1000.0
	if power, rest := strings.IndexByte(" KMGT", (unit + " ")[0]), strings.TrimLeft(unit, "KMGT"); power >= 0 && len(unit)-len(rest) <= 1 {
		if rest == "I" || rest == "IB" {
			base = 1024
		} else if rest != "" && rest != "B" {
			return 0, false
		}
		v *= math.Pow(base, float64(power))
	} else if unit != "B" {
		return 0, false
	}
	return int64(v), v >= 1 && v < math.MaxInt64
}
