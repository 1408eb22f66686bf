package data

import (
	"slices"
	"testing"
)

// TestExportedPixelsAreTheInputs computes augmented inputs from what is exported alone, as a reader in another language would.
func TestExportedPixelsAreTheInputs(t *testing.T) {
	for _, c := range []struct {
		pipeline string
		color    bool
	}{{PipelineMD, false}, {PipelinePlain, false}, {PipelineImageNet, true}} {
		set, err := Open(Source{Name: "glyphs", Classes: 2, TrainPerClass: 6, TestPerClass: 1, Size: 28, Color: c.color, Seed: 3}, Train)
		if err != nil {
			t.Fatal(err)
		}
		p, err := PipelineNamed(c.pipeline)
		if err != nil {
			t.Fatal(err)
		}
		in, err := p.Prepare(set)
		if err != nil {
			t.Fatal(err)
		}
		a := Augment{Pad: 4, Flip: true, Seed: 5}
		b, err := NewBatches(in.N(), 5, false, 5)
		if err != nil {
			t.Fatal(err)
		}
		const epoch = 3
		b.Start(epoch)
		order := slices.Clone(b.Order())
		want := make([]float32, in.N()*in.Dim())
		FillAugmented(want, in, order, a, epoch)
		if got := shown(in, order, a.Views(nil, order, epoch)); !slices.Equal(got, want) {
			t.Errorf("%s: the exported pixels, table and views give other inputs", c.pipeline)
		}
		var dealt []int32
		for batch := b.Next(); batch != nil; batch = b.Next() {
			dealt = append(dealt, batch...)
		}
		if !slices.Equal(dealt, order) {
			t.Errorf("Order says %v, Next deals %v", order, dealt)
		}
	}
}

// shown is the plainest reading of what Stored, Table and Views say.
func shown(in *Inputs, order []int32, views []int8) (rows []float32) {
	pixels, image := in.Stored()
	table := in.Table()
	for r, sample := range order {
		dy, dx, mirror := int(views[3*r]), int(views[3*r+1]), views[3*r+2] == 1
		for c := range in.Shape.C {
			for y := range image.H {
				for x := range image.W {
					at := x
					if mirror {
						at = image.W - 1 - x
					}
					yy, xx, pixel := y+dy, at+dx, uint8(0)
					if yy >= 0 && yy < image.H && xx >= 0 && xx < image.W {
						pixel = pixels[((int(sample)*image.C+c%image.C)*image.H+yy)*image.W+xx]
					}
					rows = append(rows, table[c*256+int(pixel)])
				}
			}
		}
	}
	return rows
}
