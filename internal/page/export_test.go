package page

import "testing"

// WithoutPictures has pages write only the data of their figures until the test ends: what a page weighs does not depend on the files beside it.
func WithoutPictures(t testing.TB) {
	all := pictureFormats
	pictureFormats = all[len(all)-1:]
	t.Cleanup(func() { pictureFormats = all })
}
