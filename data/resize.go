package data

// resize is Pillow's 8-bit bilinear resize along one axis (libImaging/Resample.c, precompute_coeffs
// and normalize_coeffs_8bpc), the one behind torchvision's Resize on PIL images. Every output is a
// weighted sum of neighbours under a triangle that widens with the scale when shrinking (Pillow's
// antialiasing), with weights in fixed point.
type resize struct {
	from, to int
	first    []int     // first neighbour of output x
	weight   [][]int32 // its weights, in units of 2^-resizeBits
}

// resizeBits is Pillow's PRECISION_BITS: 32 bits less 8 of pixel and 2 of headroom.
const resizeBits = 32 - 8 - 2

func newResize(from, to int) *resize {
	r := &resize{from: from, to: to, first: make([]int, to), weight: make([][]int32, to)}
	scale := float64(from) / float64(to)
	support := max(scale, 1) // the triangle's half width, 1, times the shrinking factor
	for x := range to {
		// float64(…) keeps products from being fused into the sums on any target.
		center := float64((float64(x) + 0.5) * scale)
		lo := max(0, int(center-support+0.5))
		hi := min(from, int(center+support+0.5))
		r.first[x] = lo
		r.weight[x] = triangle(lo, hi, center, 1/support)
	}
	return r
}

// triangle returns the weights 1 − |i + ½ − center|·inverse of neighbours lo…hi−1, normalised to
// sum 1 and rounded to fixed point. None is negative.
func triangle(lo, hi int, center, inverse float64) []int32 {
	w := make([]float64, hi-lo)
	sum := 0.0
	for i := range w {
		t := float64((float64(i+lo) - center + 0.5) * inverse)
		w[i] = max(0, 1-max(t, -t))
		sum += w[i]
	}
	fixed := make([]int32, len(w))
	for i := range w {
		fixed[i] = int32(0.5 + float64(w[i]/sum*(1<<resizeBits)))
	}
	return fixed
}

// square resizes one from×from plane to to×to; scratch is from×to.
func (r *resize) square(dst, src, scratch []uint8) { resample(dst, src, scratch, r, r) }

// resample resizes one plane of columns.from rows of rows.from pixels: first along the rows, rounded to 8 bits in scratch
// (columns.from × rows.to), then along the columns, as Pillow does.
func resample(dst, src, scratch []uint8, rows, columns *resize) {
	to := rows.to
	for y := range columns.from {
		row, out := src[y*rows.from:(y+1)*rows.from], scratch[y*to:(y+1)*to]
		for x := range out {
			acc := int32(1 << (resizeBits - 1))
			for i, w := range rows.weight[x] {
				acc += int32(row[rows.first[x]+i]) * w
			}
			out[x] = clip8(acc)
		}
	}
	for y := range columns.to {
		out := dst[y*to : (y+1)*to]
		for x := range out {
			acc := int32(1 << (resizeBits - 1))
			for i, w := range columns.weight[y] {
				acc += int32(scratch[(columns.first[y]+i)*to+x]) * w
			}
			out[x] = clip8(acc)
		}
	}
}

// clip8 drops the fraction bits. Rounded weights may sum to slightly more than one.
func clip8(acc int32) uint8 { return uint8(min(max(acc>>resizeBits, 0), 255)) }
