package cli

import "collapse/internal/licenses"

type licensesCmd struct{}

func (licensesCmd) Run(a *app) error {
	return a.emit(map[string]string{"licenses": licenses.Text}, func() { a.print(licenses.Text) })
}
