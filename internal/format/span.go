package format

import "strings"

// Span writes a length of time in two digits or whole days.
func Span(hours float64) string {
	switch {
	case hours <= 0:
		return "–"
	case 3600*hours < 1:
		return "< 1 s"
	case 60*hours < 1:
		return Short(3600*hours, 2) + " s"
	case hours < 1:
		return Short(60*hours, 2) + " min"
	case hours < 48:
		return inUnits(hours, "hour")
	}
	return inUnits(hours/24, "day")
}

func inUnits(n float64, unit string) string {
	text := Short(n, 2) + " " + unit
	if strings.HasPrefix(text, "1 ") {
		return text
	}
	return text + "s"
}
