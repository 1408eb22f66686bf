package measuretest

import "collapse.example/collapse/measure/internal/dd"

// memory holds the sums over corrupted samples.
type memory struct {
	reason           string
	redrawn, flipped dd.DD
	masked           bool
	count            int   // flipped samples
	distance         dd.DD // mean over i<j of ‖h_i* − h_j*‖
}

// ofMemory is a definition from corrupted samples.
func ofMemory(f func(*memory) Value) func(*Evaluation) Value {
	return ofTest(func(e *Evaluation) Value {
		if e.memory == nil {
			e.memory = e.memorize()
		}
		if e.memory.reason != "" {
			return undefined(e.memory.reason)
		}
		return f(e.memory)
	})
}

func (e *Evaluation) memorize() *memory {
	if e.set.True == nil {
		return &memory{reason: "no true labels"}
	}
	m := &memory{masked: e.set.Redrawn != nil}
	for i, observed := range e.train.labels {
		truth := e.set.True[i]
		distance := dd.Distance2(e.train.rows[i], e.test.means[truth]).Sqrt()
		if m.masked && e.set.Redrawn[i] {
			m.redrawn = m.redrawn.Add(distance)
		}
		if observed != truth {
			m.flipped = m.flipped.Add(distance)
			m.count++
		}
	}
	k := e.test.k
	for i, a := range e.test.means {
		for _, b := range e.test.means[:i] {
			m.distance = m.distance.Add(dd.Distance2(a, b).Sqrt().Over(float64(k * (k - 1) / 2)))
		}
	}
	return m
}

func (m *memory) redrawnSum() Value {
	if !m.masked {
		return undefined("no mask of redrawn samples")
	}
	return value(m.redrawn)
}

func (m *memory) mean() Value {
	if m.count == 0 {
		return undefined("no sample is flipped")
	}
	return value(m.flipped.Over(float64(m.count)))
}

func (m *memory) normalised() Value {
	if mean := m.mean(); mean.Undefined != "" || m.distance.Hi > 0 {
		mean.V = mean.V.Div(m.distance)
		return mean
	}
	return undefined("all test class means coincide")
}
