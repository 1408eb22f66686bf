package conv

import (
	"collapse.example/collapse/internal/kernel"
)

// transformer returns the transform of grids of from×from vectors to grids of to×to by the linear map
// line, applied to the columns and then to the rows, in plain Go.
func transformer[T kernel.Float](from, to int, line func(in [6]T) [6]T) func(*convTransform) {
	return func(t *convTransform) {
		for i := range t.count {
			for lane := range LaneBlock {
				transformLane(t, i, lane*kernel.Size[T](), from, to, line)
			}
		}
	}
}

// transformLane transforms one lane, some bytes into the vectors, of grid i.
func transformLane[T kernel.Float](t *convTransform, i, lane, from, to int, line func(in [6]T) [6]T) {
	var half [6][6]T // rows of the result, columns of the source
	var in [6]T
	for x := range from {
		for y := range from {
			in[y] = 0
			if t.srcMask>>(y*from+x)&1 != 0 {
				in[y] = *elementAt[T](t.src, t.srcAt+i*t.srcGap+y*t.srcRow+x*t.srcCol+lane)
			}
		}
		out := line(in)
		for y := range to {
			half[y][x] = out[y]
		}
	}
	for y := range to {
		out := line(half[y])
		for x, v := range out[:to] {
			if t.dstMask>>(y*to+x)&1 == 0 {
				continue
			}
			if t.bias != nil {
				v += *elementAt[T](t.bias, i*t.biasGap)
			}
			at := i*t.dstGap + y*t.dstRow + x*t.dstCol + lane
			if t.add != nil {
				v += *elementAt[T](t.add, at)
			}
			if t.relu != 0 && v < 0 {
				v = 0
			}
			*elementAt[T](t.dst, at) = v
		}
	}
}

func winogradInputLine[T kernel.Float](d [6]T) (o [6]T) {
	const a, b, p, q = winogradP * winogradP, winogradQ * winogradQ, winogradP, winogradQ
	o[0] = d[4] - T((a+b)*d[2]) + T(a*b*d[0])
	even, odd := d[4]-T(b*d[2]), T(p*(d[3]-T(b*d[1])))
	o[1], o[2] = even+odd, even-odd
	even, odd = d[4]-T(a*d[2]), T(q*(d[3]-T(a*d[1])))
	o[3], o[4] = even+odd, even-odd
	o[5] = d[5] - T((a+b)*d[3]) + T(a*b*d[1])
	return
}

func winogradOutputLine[T kernel.Float](m [6]T) (y [6]T) {
	const p, q = winogradP, winogradQ
	s1, d1, s2, d2 := m[1]+m[2], m[1]-m[2], m[3]+m[4], m[3]-m[4]
	y[0] = m[0] + s1 + s2
	y[1] = T(p*d1) + T(q*d2)
	y[2] = T(p*p*s1) + T(q*q*s2)
	y[3] = m[5] + T(p*p*p*d1) + T(q*q*q*d2)
	return
}

func winogradGradientLine[T kernel.Float](y [6]T) (m [6]T) {
	const a, b, p, q = winogradP * winogradP, winogradQ * winogradQ, winogradP, winogradQ
	m[0], m[5] = y[0], y[3]
	even, odd := y[0]+T(a*y[2]), T(p*(y[1]+T(a*y[3])))
	m[1], m[2] = even+odd, even-odd
	even, odd = y[0]+T(b*y[2]), T(q*(y[1]+T(b*y[3])))
	m[3], m[4] = even+odd, even-odd
	return
}

func winogradFilterLine[T kernel.Float](g [6]T) (u [6]T) {
	const a, b, p, q = winogradP * winogradP, winogradQ * winogradQ, winogradP, winogradQ
	u[0], u[5] = T(g[0]/(a*b)), g[2]
	even, odd := T(g[0]/winogradNP)+T(g[2]*(a/winogradNP)), T(g[1]*(p/winogradNP))
	u[1], u[2] = even+odd, even-odd
	even, odd = T(g[0]/winogradNQ)+T(g[2]*(b/winogradNQ)), T(g[1]*(q/winogradNQ))
	u[3], u[4] = even+odd, even-odd
	return
}

func winogradFilterGradientLine[T kernel.Float](u [6]T) (g [6]T) {
	const a, b, p, q = winogradP * winogradP, winogradQ * winogradQ, winogradP, winogradQ
	s1, d1, s2, d2 := u[1]+u[2], u[1]-u[2], u[3]+u[4], u[3]-u[4]
	g[0] = T(u[0]/(a*b)) + T(s1/winogradNP) + T(s2/winogradNQ)
	g[1] = T(d1*(p/winogradNP)) + T(d2*(q/winogradNQ))
	g[2] = u[5] + T(s1*(a/winogradNP)) + T(s2*(b/winogradNQ))
	return
}
