package analysis

import (
	"sync"
	"sync/atomic"
)

// parallel calls do for every number below n, on as many goroutines as there are
// workers. What the calls leave behind must not depend on their order.
func parallel(workers, n int, do func(i int)) {
	workers = min(workers, n)
	if workers <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// together does tasks that don't need one another.
func together(workers int, tasks ...func()) {
	parallel(workers, len(tasks), func(i int) { tasks[i]() })
}
