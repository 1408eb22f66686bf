package imbalance

import "math"

// column is what the loss of a class depends on: the logits of each group, of the other classes of its own group, and its own. Entry i
// stands for many[i] classes; the last is the class itself.
type column struct {
	squared      bool
	many         []float64
	target, hers float64 // of each other class, and of the class itself
}

// columns has a column for each group.
func (c Config) columns(groups []Group) []column {
	K, out := float64(len(c.Counts)), make([]column, len(groups))
	for j := range out {
		out[j] = column{squared: c.Loss == MSE, target: c.Smoothing / K, hers: 1 - c.Smoothing + c.Smoothing/K}
		for i, g := range groups {
			n := g.Classes
			if i == j {
				n--
			}
			out[j].many = append(out[j].many, float64(n))
		}
		out[j].many = append(out[j].many, 1)
	}
	return out
}

// value is the loss of logits z. slope, with room for as many numbers, gets the derivative by the logit of one class of each entry.
func (c column) value(z, slope []float64) float64 {
	if c.squared {
		return c.squares(z, slope)
	}
	own := len(z) - 1
	top := z[own]
	for i, n := range c.many {
		if n > 0 {
			top = max(top, z[i])
		}
	}
	sum, others, linear := 0.0, 0.0, 0.0
	for i, n := range c.many {
		slope[i] = 0
		if n > 0 {
			slope[i] = math.Exp(z[i] - top)
		}
		sum += n * slope[i]
		if i < own {
			others += n * slope[i]
			linear += n * c.target * (z[i] - z[own])
		}
	}
	log := top - z[own] + math.Log(sum)
	if top == z[own] {
		log = math.Log1p(others)
	}
	slope[own] = 0
	for i, n := range c.many[:own] { // the slopes of all classes sum to 0
		slope[i] = slope[i]/sum - c.target
		slope[own] -= n * slope[i]
	}
	return log - linear
}

func (c column) squares(z, slope []float64) (sum float64) {
	for i, n := range c.many {
		slope[i] = z[i] - c.goal(i)
		sum += n * slope[i] * slope[i] / 2
	}
	return sum
}

func (c column) goal(i int) float64 {
	if i == len(c.many)-1 {
		return c.hers
	}
	return c.target
}

// bend turns a change of the logits into that of the slopes, given these.
func (c column) bend(slope, dz, out []float64) {
	if c.squared {
		copy(out, dz)
		return
	}
	mean := 0.0
	for i, n := range c.many {
		mean += n * (slope[i] + c.goal(i)) * dz[i]
	}
	for i, n := range c.many {
		out[i] = 0
		if n > 0 {
			out[i] = (slope[i] + c.goal(i)) * (dz[i] - mean)
		}
	}
}

// conjugate is the convex conjugate of the loss at θ times its slope; θ in [0, 1] keeps it in its domain.
func (c column) conjugate(theta float64, slope []float64) (sum float64) {
	for i, n := range c.many {
		v := theta * slope[i]
		switch q := v + c.goal(i); {
		case c.squared:
			sum += n * (v*v/2 + v*c.goal(i))
		case q > 0:
			sum += n * q * math.Log(q)
		}
	}
	return sum
}
