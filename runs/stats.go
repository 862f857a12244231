package runs

import (
	"time"

	"github.com/signalbox/signalbox/billing"
)

// Stats are figures of a span of time.
type Stats struct {
	Buckets []Bucket    // the whole house, oldest first
	Tools   []ToolStats // the whole span by service and tool, most runs first, at most 100
}

// Bucket is a step of the span.
type Bucket struct {
	From time.Time
	Figures
}

// ToolStats are the figures of one tool.
type ToolStats struct {
	Service, ToolID string
	Figures
}

// Figures tell of runs that ended.
type Figures struct {
	Runs          int64
	Succeeded     int64
	Failed        int64           // timed out as well; canceled ones are in Runs only
	Revenue       billing.NanoUSD // what was paid for them
	Cost          billing.NanoUSD // what they came to: more than Revenue where the house took the rest
	QuotedLow     billing.NanoUSD // what those that succeeded were quoted before, from
	QuotedHigh    billing.NanoUSD // to: where Cost lies far from both, quotes are no good
	P50, P95      time.Duration   // from acceptance to end, of those that succeeded, to within 2.5 %; zero without any
	EngineSeconds float64         // run time of tools that are priced by the second
}
