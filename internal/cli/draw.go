package cli

import (
	"io"
	"os"
	"strings"

	"collapse.example/collapse/internal/chart"
)

// drawCmd is hidden: the Python package calls it, so that its pictures are drawn as all others are.
type drawCmd struct{}

// largestFigure is the most bytes of JSON that draw accepts.
const largestFigure = 16 << 20

func (drawCmd) Help() string {
	return `Reads a figure of curves from standard input, in the JSON format saved beside every picture of a page, and writes it as SVG.`
}

func (drawCmd) Run(a *app) error {
	a.onlyComputes()
	in := &io.LimitedReader{R: os.Stdin, N: largestFigure}
	f, err := chart.ReadCurves(in)
	if err != nil {
		if in.N == 0 {
			return usagef("a figure on standard input has more than %d MiB; draw fewer points", largestFigure>>20)
		}
		return usageError{err}
	}
	var svg strings.Builder
	if err := chart.WriteSVG(&svg, f, chart.Auto); err != nil {
		return err
	}
	return a.emit(map[string]string{"svg": svg.String()}, func() { a.print(svg.String()) })
}
