package page

import (
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/outfile"
)

// recipePage is the template's data.
type recipePage struct {
	findings.RecipeFindings
	shared
	Figures []shown
	Tabled  []tableShown
}

// WriteRecipe makes the page of a recipe, index.html in a folder, with the files of its figures, as Write
// does.
func WriteRecipe(to *outfile.Folder, found findings.RecipeFindings) (res Result, err error) {
	res = Result{Headline: found.Title, Claims: found.Judged, Runs: len(found.Runs), Failed: len(found.Unfinished.Rows), Compute: found.Compute}
	err = to.Write(func(files *outfile.Files) error {
		res.Written, err = writeRecipe(files, found)
		return err
	})
	return res, err
}

func writeRecipe(files *outfile.Files, found findings.RecipeFindings) (res Written, err error) {
	p := recipePage{RecipeFindings: found, shared: sharedBy(found.Common, found.Generated), Tabled: tablesShown(0, found.Tabled)}
	for _, picture := range found.Pictures {
		p.Figures = append(p.Figures, prepare(picture))
	}
	if res.Figures, err = writePictures(files, found.Pictures); err != nil {
		return res, err
	}
	if res.Tables, err = writeTables(files, p.Tabled); err != nil {
		return res, err
	}
	return res, writeHTML(files, "recipe", found.Title, p.Made, &p, each(p.Figures), nil, found.Common, &res)
}
