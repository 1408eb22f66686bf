package data

// mt19937 is the Mersenne Twister of Matsumoto & Nishimura 1998 with 32-bit outputs, the generator
// of PyTorch on a CPU.
type mt19937 struct {
	state [624]uint32
	at    int // outputs of the current block already handed out
}

// seed starts the generator as the 2002 revision of the authors' code does (init_genrand).
func (m *mt19937) seed(s uint32) {
	m.state[0] = s
	for i := uint32(1); i < 624; i++ {
		p := m.state[i-1]
		m.state[i] = 1812433253*(p^p>>30) + i
	}
	m.at = 624
}

func (m *mt19937) next() uint32 {
	if m.at == 624 {
		m.twist()
	}
	y := m.state[m.at]
	m.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (m *mt19937) twist() {
	for i := range 624 {
		y := m.state[i]&0x80000000 | m.state[(i+1)%624]&0x7fffffff
		v := m.state[(i+397)%624] ^ y>>1
		if y&1 == 1 {
			v ^= 0x9908b0df
		}
		m.state[i] = v
	}
	m.at = 0
}

// float32 returns the low 24 bits of one output over 2^24, torch's uniform float32 in [0, 1).
func (m *mt19937) float32() float32 { return float32(m.next()&(1<<24-1)) / (1 << 24) }
