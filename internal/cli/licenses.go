package cli

import "collapse.example/collapse/internal/licenses"

type licensesCmd struct{}

func (licensesCmd) Run(a *app) error {
	text := licenses.Text()
	return a.emit(map[string]string{"licenses": text}, func() { a.print(text) })
}
