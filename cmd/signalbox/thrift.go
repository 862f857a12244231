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
// of rest, still twice as often as Go does by default. Under load it takes more memory instead, since collecting would take
// a good part of the time. When work is followed by a quiet time, memory goes back to the system, until ctx ends. GOGC in the
// environment goes first.
func thrift(ctx context.Context) (rest func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(startPercent)
	return func() {
		debug.SetGCPercent(restPercent)
		giveBack()
		go tidy(ctx)
	}
}

// How much garbage there may be, in percent of what is in use, see debug.SetGCPercent.
const (
	startPercent = 25
	restPercent  = 50
	loadPercent  = 300
)

const (
	tidyEvery = 5 * time.Second
	tidyQuiet = 4 << 20   // bytes allocated in that time: less is a quiet time
	tidyLoad  = 100 << 20 // bytes allocated in that time: more is load
	tidyWorth = 8 << 20   // bytes allocated since the last time
)

// tidy gives memory back in the pauses between work, and lets there be more garbage under load.
func tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	before := allocated()
	tidied := before
	percent := restPercent
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := allocated()
		if next := percentFor(now-before, percent); next != percent {
			percent = next
			debug.SetGCPercent(percent)
		}
		if now-before < tidyQuiet && now-tidied > tidyWorth {
			giveBack()
			tidied = now
		}
		before = now
	}
}

// percentFor gives the percentage after a time in which so many bytes were allocated; between quiet and load it stays.
func percentFor(bytes uint64, percent int) int {
	switch {
	case bytes < tidyQuiet:
		return restPercent
	case bytes > tidyLoad:
		return loadPercent
	}
	return percent
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
