package bench

import (
	"fmt"
	"math"
	"math/rand/v2"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/parallel"
)

// Shape is the shape of a product: C (M×N) from sums of K products.
type Shape struct {
	Form    gemm.Form
	M, N, K int
}

// LayerShapes are the products of one 2048×2048 layer at batch 512, all three forms at 512×2048×2048,
// and the weight gradient as training forms it.
var LayerShapes = []Shape{
	{gemm.NT, 512, 2048, 2048}, // forward: x·Wᵀ
	{gemm.NN, 512, 2048, 2048}, // input gradient: dy·W
	{gemm.TN, 512, 2048, 2048},
	{gemm.TN, 2048, 2048, 512}, // weight gradient: dyᵀ·x
}

// GemmRate is the speed of one product.
type GemmRate struct {
	Form     string  `json:"form"`
	DType    string  `json:"dtype"`
	M        int     `json:"m"`
	N        int     `json:"n"`
	K        int     `json:"k"`
	Best     float64 `json:"gflops"`        // best of the repeats
	Median   float64 `json:"gflops_median"` // median of the repeats
	Fraction float64 `json:"fraction_of_peak"`
}

// GemmReport is the speed of products next to the limits, measured between them in the same run.
type GemmReport struct {
	FMAAll   float64    `json:"fma_gflops_all"`
	FMA64All float64    `json:"fma64_gflops_all"`
	Kernel   string     `json:"kernel"`
	CPU      string     `json:"cpu"`
	Threads  int        `json:"threads"`
	Repeats  int        `json:"repeats"`
	Rates    []GemmRate `json:"rates"`
}

// Gemm measures shapes in float32 and float64 with threads threads (GOMAXPROCS if not positive). Each
// product is checked against float64 sums, then timed repeats times, alternating with the register
// loop that gives the limit. The error says which element was wrong.
func Gemm(threads, repeats int, shapes []Shape) (GemmReport, error) {
	tm := parallel.NewTeam(threads)
	defer tm.Close()
	r := GemmReport{Kernel: isa.Name(), CPU: version.CPU(), Threads: tm.Threads(), Repeats: max(repeats, 1)}
	var err error
	if r.FMAAll, err = gemmRates[float32](&r, tm, "float32", shapes); err != nil {
		return r, err
	}
	r.FMA64All, err = gemmRates[float64](&r, tm, "float64", shapes)
	return r, err
}

// gemmRates appends the rates of one element type to r and returns the limit.
func gemmRates[T kernel.Float](r *GemmReport, tm *parallel.Team, dtype string, shapes []Shape) (peak float64, err error) {
	limit := newLoop[T](tm)
	first := len(r.Rates)
	for _, s := range shapes {
		p := newProblem[T](s)
		p.multiply(tm)
		if err := p.verify(); err != nil {
			return 0, err
		}
		rates := make([]float64, r.Repeats)
		best := 0.0
		for i := range rates {
			limit.sample()
			rates[i] = giga(p.operations(), timed(func() { p.multiply(tm) }))
			best = max(best, rates[i])
		}
		r.Rates = append(r.Rates, GemmRate{Form: s.Form.String(), DType: dtype, M: s.M, N: s.N, K: s.K,
			Best: best, Median: median(rates)})
	}
	for i := first; i < len(r.Rates); i++ {
		r.Rates[i].Fraction = r.Rates[i].Best / limit.best
	}
	return limit.best, nil
}

// problem is a product with its operands.
type problem[T kernel.Float] struct {
	Shape
	a, b, c []T
}

func newProblem[T kernel.Float](s Shape) *problem[T] {
	p := &problem[T]{Shape: s,
		a: memory.Alloc[T](s.M * s.K), b: memory.Alloc[T](s.K * s.N), c: memory.Alloc[T](s.M * s.N)}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, x := range [][]T{p.a, p.b} {
		for i := range x {
			x[i] = T(rng.Float64()*2 - 1)
		}
	}
	return p
}

func (p *problem[T]) operations() float64 { return 2 * float64(p.M) * float64(p.N) * float64(p.K) }

func (p *problem[T]) multiply(tm *parallel.Team) {
	a, b := gemm.Operands(p.Form, p.M, p.N, p.K, p.a, p.b)
	gemm.Multiply(tm, p.Form, a, b, kernel.Dense(p.M, p.N, p.c), gemm.Epilogue[T]{})
}

// verify compares elements spread over C with sums in float64. The bound is the forward error of a sum
// of K products in any order, γ_{2K}·Σ|a·b| for the two roundings (T's, and the reference's).
func (p *problem[T]) verify() error {
	roundoff := math.Ldexp(1, -24)
	if _, wide := any(p.c).([]float64); wide {
		roundoff = math.Ldexp(1, -53)
	}
	const samples = 1000
	for s := range samples {
		at := s * (len(p.c) - 1) / (samples - 1)
		i, j := at/p.N, at%p.N
		want, absSum := p.element(i, j)
		got, bound := float64(p.c[at]), 2*float64(p.K)*roundoff*absSum
		if !(math.Abs(got-want) <= bound) {
			return fmt.Errorf("bench: %v %d×%d×%d with kernel %s: c[%d,%d] is %g, want %g ± %g",
				p.Form, p.M, p.N, p.K, isa.Name(), i, j, got, want, bound)
		}
	}
	return nil
}

// element returns C[i,j] and the sum of the absolute products, in float64.
func (p *problem[T]) element(i, j int) (sum, absSum float64) {
	for q := range p.K {
		x, y := i*p.K+q, q*p.N+j
		if p.Form == gemm.TN {
			x = q*p.M + i
		}
		if p.Form == gemm.NT {
			y = j*p.K + q
		}
		product := float64(p.a[x]) * float64(p.b[y])
		sum += product
		absSum += math.Abs(product)
	}
	return sum, absSum
}
