package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// thrift keeps the program small, which for most of its life only waits: it collects garbage often while
// starting, when the workflow files are read and most of the garbage is made, and afterwards, from the call
// of rest, still twice as often as Go does by default. When work is followed by a quiet time, memory goes
// back to the system, until ctx ends. GOGC in the environment goes first.
func thrift(ctx context.Context) (rest func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(25)
	return func() {
		debug.SetGCPercent(50)
		giveBack()
		go tidy(ctx)
	}
}

const (
	tidyEvery = 5 * time.Second
	tidyQuiet = 4 << 20 // bytes allocated in that time: less is a quiet time
	tidyWorth = 8 << 20 // bytes allocated since the last time
)

// tidy gives memory back in the pauses between work.
func tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	before := allocated()
	tidied := before
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := allocated()
		if now-before < tidyQuiet && now-tidied > tidyWorth {
			giveBack()
			tidied = now
		}
		before = now
	}
}

func giveBack() {
	debug.FreeOSMemory()
	forgetCode()
}

// allocated is how many bytes were ever allocated on the heap. Asking does not stop the world.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
