package workflow

import (
	"encoding/json"
	"sort"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
)

// BenchmarkCorpus measures parsing and defining the whole corpus against json.Unmarshal into any of the same
// bytes, in the same run, and reports the ratio. The declarations are loaded before.
func BenchmarkCorpus(b *testing.B) {
	info := graphtest.ObjectInfo(b)
	files := graphtest.Files(b)
	names := make([]string, 0, len(files))
	size := 0
	for name, data := range files {
		names = append(names, name)
		size += len(data)
	}
	sort.Strings(names)
	b.SetBytes(int64(size))
	var ours, baseline time.Duration
	for b.Loop() {
		for _, name := range names { // file by file, so that a busy machine slows both alike
			start := time.Now()
			var v any
			if err := json.Unmarshal(files[name], &v); err != nil {
				b.Fatal(err)
			}
			middle := time.Now()
			w, err := graph.Parse(files[name])
			if err != nil {
				b.Fatal(err)
			}
			if _, err := Define(w, Options{FileName: name, ObjectInfo: info}); err != nil {
				b.Fatal(err)
			}
			baseline += middle.Sub(start)
			ours += time.Since(middle)
		}
	}
	b.ReportMetric(float64(ours)/float64(baseline), "x-unmarshal")
}
