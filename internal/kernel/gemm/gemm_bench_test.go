package gemm

import (
	"fmt"
	"sync"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// BenchmarkGemm checks a product and then times it: the layers of small and large networks, and their
// two-column classifiers, on one thread and on all.
func BenchmarkGemm(b *testing.B) {
	shapes := [][3]int{{64, 64, 64}, {64, 512, 512}, {512, 512, 512}, {512, 2, 2048}, {512, 2048, 784}, {512, 2048, 2048}}
	for _, threads := range []int{1, 0} {
		tm := parallel.NewTeam(threads)
		for _, s := range shapes {
			for _, f := range []Form{NN, NT, TN} {
				name := fmt.Sprintf("%v-%dx%dx%d-threads=%d", f, s[0], s[1], s[2], tm.Threads())
				b.Run(name+"/float32", func(b *testing.B) { benchGemm[float32](b, tm, f, s[0], s[1], s[2]) })
				b.Run(name+"/float64", func(b *testing.B) { benchGemm[float64](b, tm, f, s[0], s[1], s[2]) })
			}
		}
		tm.Close()
	}
}

func benchGemm[T kernel.Float](b *testing.B, tm *parallel.Team, f Form, m, n, k int) {
	x, y, c := memory.Alloc[T](m*k), memory.Alloc[T](n*k), memory.Alloc[T](m*n)
	for i := range x {
		x[i] = T(i % 3)
	}
	for i := range y {
		y[i] = 2
	}
	a, w := Operands(f, m, n, k, x, y)
	run := func() { Multiply(tm, f, a, w, kernel.Dense(m, n, c), Epilogue[T]{}) }
	run()
	for i := range m { // small whole numbers: exact in any order
		want := T(0)
		for p := range k {
			at := i*k + p
			if f == TN {
				at = p*m + i
			}
			want += 2 * x[at]
		}
		for j, got := range c[i*n : (i+1)*n] {
			if !(got == want) {
				b.Fatalf("c[%d,%d] = %v, want %v", i, j, got, want)
			}
		}
	}
	for b.Loop() {
		run()
	}
	work := 2 * float64(m) * float64(n) * float64(k)
	b.ReportMetric(work*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// BenchmarkSideBySide is what the machine gives to two computations that share nothing: the products of a step of md-fig1's network at
// its quick scale, which fit into a core's own cache, by one goroutine and by two. A step takes as long in both if cores are independent.
func BenchmarkSideBySide(b *testing.B) {
	for _, hands := range []int{1, 2} {
		b.Run(fmt.Sprintf("hands=%d", hands), func(b *testing.B) {
			var all sync.WaitGroup
			for range hands {
				all.Go(func() {
					team := parallel.NewTeam(1)
					defer team.Close()
					x, w, y := memory.Alloc[float32](64*784), memory.Alloc[float32](64*784), memory.Alloc[float32](64*784)
					product := func(f Form, m, n, k int) {
						a, b := Operands(f, m, n, k, x, w)
						Multiply(team, f, a, b, kernel.Dense(m, n, y), Epilogue[float32]{})
					}
					for range b.N {
						product(NT, 25, 64, 784)
						product(TN, 64, 784, 25)
						for range 2 {
							product(NT, 25, 64, 64)
							product(NN, 25, 64, 64)
							product(TN, 64, 64, 25)
						}
					}
				})
			}
			all.Wait()
		})
	}
}
