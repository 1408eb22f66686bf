package page

import (
	"io"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/outfile"
)

// WithoutPictures has pages write only the data of their figures until the test ends: what a page weighs does not depend on the files beside it.
func WithoutPictures(t testing.TB) {
	all := pictureFormats
	writeFormats(t, all[len(all)-1:])
}

// WithoutFiles has pages write no file of a figure until the test ends.
func WithoutFiles(t testing.TB) { writeFormats(t, nil) }

// WithSmallPictures has pages write every file of a figure until the test ends, but the PNG with a hundredth of its pixels, whose making
// takes most of a page's time; the whole test makes them as they are.
func WithSmallPictures(t testing.TB) {
	small := append(pictureFormats[:0:0], pictureFormats...)
	for i := range small {
		if small[i].ext == ".png" && !longtest.Whole() {
			small[i].write = func(w io.Writer, _, drawn chart.Figure) error {
				return chart.WritePNG(w, drawn, chart.Light, pixelsPerPoint(drawn)/10)
			}
		}
	}
	writeFormats(t, small)
}

func writeFormats(t testing.TB, formats []pictureFormat) {
	all := pictureFormats
	pictureFormats = formats
	t.Cleanup(func() { pictureFormats = all })
}

// WriteStudy judges a study and makes its page.
func WriteStudy(to *outfile.Folder, s findings.Study) (Result, error) {
	found, err := s.Judge()
	if err != nil {
		return Result{}, err
	}
	return Write(to, found)
}

// JudgeAndWrite judges the runs of a recipe and makes its page.
func JudgeAndWrite(to *outfile.Folder, r findings.Recipe) (Result, error) {
	found, err := r.Judge()
	if err != nil {
		return Result{}, err
	}
	return WriteRecipe(to, found)
}
