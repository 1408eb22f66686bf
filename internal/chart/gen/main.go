// Command gen writes the fonts of static figures, packed: they make up 3 % of the program otherwise.
package main

import (
	"bytes"
	"log"
	"os"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/zipped"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-fonts/dejavu/dejavusansbold"
)

func main() {
	log.SetFlags(0)
	bold, err := only(dejavusansbold.TTF, chart.Bold)
	if err != nil {
		log.Fatal(err)
	}
	sans, err := only(dejavusans.TTF, chart.Drawn)
	if err != nil {
		log.Fatal(err)
	}
	for file, font := range map[string][]byte{"sans.ttf.br": plain(sans), "bold.ttf.br": plain(bold)} {
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(zipped.FromBrotli(old), font) {
			continue // another version of brotli may compress the same font to other bytes
		}
		if err := os.WriteFile(file, zipped.Brotli(font), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
