package data

// q16 is the fixed point of the warp: an int that counts 1/65536.
const q16 = 1 << 16

// The warp needs an int of 64 bits: on a smaller one this does not compile.
const _ uint = 1 << 63

// glyphDraw bounds the random draws of a sample. Lengths are in pixels of a 28-pixel image, which
// scale with its size. They were chosen so that a small perceptron errs on a few held-out samples
// even of 0 against 1 (docs/internal/decisions/0003-glyphs.md); changing one changes every result on glyphs.
var glyphDraw = struct {
	halfTurn           int    // tangent of half the rotation, q16, both signs
	shear              int    // x per y, q16, both signs
	zoomMin, zoomMax   int    // width and height against the upright symbol of 20 pixels, q16
	shift              int    // q16 pixels, both signs, each axis
	thinner, thicker   int    // outline moved in or out, 1/fieldUnit cells (3.6 cells a pixel)
	blurMin, blurMax   int    // width of the outline's ramp, q16 pixels
	bars               int    // maximum number of occluding bars, each of ink or of paper
	barLength          [2]int // half length, q16 pixels
	barWidth           [2]int // half width, q16 pixels
	inkMin, paperMax   int    // grey levels: ink in [inkMin, 255], paper in [0, paperMax]
	noiseMin, noiseMax int    // standard deviation of pixel noise, grey levels
	contrast           int    // colour: least sum over channels of |ink − paper|
}{
	halfTurn: q16 * 17 / 100, shear: q16 * 25 / 100, zoomMin: q16 * 65 / 100, zoomMax: q16 * 110 / 100, shift: 5 * q16 / 2,
	thinner: 2 * fieldUnit, thicker: 3 * fieldUnit, blurMin: q16, blurMax: 2 * q16,
	bars: 3, barLength: [2]int{2 * q16, 7 * q16}, barWidth: [2]int{q16 / 2, 5 * q16 / 4},
	inkMin: 140, paperMax: 50, noiseMin: 5, noiseMax: 40, contrast: 220,
}

// renderer draws samples of one size. The order of its draws is part of every result.
type renderer struct {
	rng  stream
	size int
	ink  []int // coverage of each pixel by ink, 0…255
}

func newRenderer(size int) *renderer { return &renderer{size: size, ink: make([]int, size*size)} }

// sample draws one image of a class into dst, C×size×size, C = 3 with color and 1 without.
func (r *renderer) sample(dst []uint8, faces []*field, color bool) {
	f := faces[r.rng.below(len(faces))]
	r.symbol(f)
	for range r.rng.below(glyphDraw.bars + 1) {
		r.bar()
	}
	plane := r.size * r.size
	var ink, paper [3]int
	if !color {
		ink[0], paper[0] = r.rng.within(glyphDraw.inkMin, 255), r.rng.within(0, glyphDraw.paperMax)
	} else {
		ink, paper = r.colors()
	}
	noise := r.rng.within(glyphDraw.noiseMin, glyphDraw.noiseMax)
	for c := 0; c*plane < len(dst); c++ {
		r.expose(dst[c*plane:(c+1)*plane], ink[c], paper[c], noise)
	}
}

func (r *renderer) colors() (ink, paper [3]int) {
	for {
		contrast := 0
		for c := range ink {
			ink[c], paper[c] = r.rng.below(256), r.rng.below(256)
			contrast += max(ink[c]-paper[c], paper[c]-ink[c])
		}
		if contrast >= glyphDraw.contrast {
			return ink, paper
		}
	}
}

// pixels returns a length given in q16 pixels of a 28-pixel image in q16 pixels of this size.
func (r *renderer) pixels(q int) int { return q * r.size / 28 }

// symbolCells is the number of field cells per pixel, q16, at zoom 1 in an image of 28 pixels, where a
// symbol measures 20.
const symbolCells = fieldBox * q16 / 20

// symbol fills ink with the warped symbol.
func (r *renderer) symbol(f *field) {
	d := &glyphDraw
	cos, sin := rotation(r.rng.within(-d.halfTurn, d.halfTurn))
	shear := r.rng.within(-d.shear, d.shear)
	zoomX, zoomY := r.rng.within(d.zoomMin, d.zoomMax), r.rng.within(d.zoomMin, d.zoomMax)
	shiftX, shiftY := r.pixels(r.rng.within(-d.shift, d.shift)), r.pixels(r.rng.within(-d.shift, d.shift))
	thicker := r.rng.within(-d.thinner, d.thicker)
	blur := r.rng.within(d.blurMin, d.blurMax)

	// From pixel to field: rotate back, shear back, unzoom.
	cell := symbolCells * 28 / r.size // cells per pixel
	cellX, cellY := cell*q16/zoomX, cell*q16/zoomY
	ux, uy := (cos+shear*sin/q16)*cellX/q16, (sin-shear*cos/q16)*cellX/q16
	vx, vy := -sin*cellY/q16, cos*cellY/q16
	slope := 255 * q16 / (blur * symbolCells / q16 * fieldUnit / q16) // of the ramp from paper to ink

	// Pixel centres, relative to the middle of the symbol, go to places between cell centres.
	x0, y0 := q16/2-r.size*q16/2-shiftX, q16/2-r.size*q16/2-shiftY
	for y := range r.size {
		py := y0 + y*q16
		u := (ux*x0+uy*py)/q16 + (fieldSize-1)*q16/2
		v := (vx*x0+vy*py)/q16 + (fieldSize-1)*q16/2
		row := r.ink[y*r.size : (y+1)*r.size]
		for x := range row {
			cover := (f.at(u, v)+thicker)*slope/q16 + 128
			row[x] = min(max(cover, 0), 255)
			u += ux
			v += vx
		}
	}
}

// rotation returns cosine and sine, q16, of the angle whose half has tangent t (q16).
func rotation(t int) (cos, sin int) {
	t2 := t * t / q16
	return (q16 - t2) * q16 / (q16 + t2), 2 * t * q16 / (q16 + t2)
}

// at returns the bilinear value of the field at (u, v), q16 cells; outside the field it is far out.
func (f *field) at(u, v int) int {
	x, y := u>>16, v>>16
	if uint(x) >= fieldSize-1 || uint(y) >= fieldSize-1 {
		return -fieldFar * fieldUnit
	}
	fx, fy := u>>8&255, v>>8&255
	p := f[y*fieldSize+x:][: fieldSize+2 : fieldSize+2]
	top := int(p[0])*(256-fx) + int(p[1])*fx
	bottom := int(p[fieldSize])*(256-fx) + int(p[fieldSize+1])*fx
	return (top*(256-fy) + bottom*fy) >> 16
}

// bar lays a bar of ink or of paper over what is drawn.
func (r *renderer) bar() {
	d := &glyphDraw
	cos, sin := rotation(r.rng.within(-q16, q16)) // all directions of a line
	length := r.pixels(r.rng.within(d.barLength[0], d.barLength[1]))
	width := r.pixels(r.rng.within(d.barWidth[0], d.barWidth[1]))
	atX, atY := r.rng.below(r.size*q16), r.rng.below(r.size*q16)
	paper := r.rng.below(2) == 0
	for y := range r.size {
		dy := y*q16 + q16/2 - atY
		row := r.ink[y*r.size : (y+1)*r.size]
		for x := range row {
			dx := x*q16 + q16/2 - atX
			along, across := (dx*cos+dy*sin)/q16, (dy*cos-dx*sin)/q16
			beyond := max(max(along, -along)-length, max(across, -across)-width)
			if beyond >= q16/2 {
				continue
			}
			cover := min(255, (q16/2-beyond)*255/q16)
			if paper {
				row[x] = row[x] * (255 - cover) / 255
			} else {
				row[x] = max(row[x], cover)
			}
		}
	}
}

// expose turns coverage into grey levels between paper and ink and adds noise. The noise of a pixel is
// the sum of four random bytes, centred: close to normal, with deviation 147.8 (Irwin–Hall).
func (r *renderer) expose(dst []uint8, ink, paper, deviation int) {
	const mean, spread = 4 * 255 / 2, 1478
	gain := deviation * 10 * q16 / spread
	var random uint64
	for i, cover := range r.ink {
		if i%2 == 0 {
			random = r.rng.uint64()
			random = random&0x00ff00ff00ff00ff + random>>8&0x00ff00ff00ff00ff
			random += random >> 16
		}
		sum := int(random & 0x7ff)
		random >>= 32
		level := paper + (ink-paper)*cover/255 + (sum-mean)*gain>>16
		dst[i] = uint8(min(max(level, 0), 255))
	}
}
