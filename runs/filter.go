package runs

import (
	"time"
)

// Filter chooses runs; empty members choose all.
type Filter struct {
	AccountID   string // the runs of its history: without deleted ones
	Budget      string // the runs that drew on it
	ToolID      string
	Status      Status
	Open        bool // not over yet: asked state by state, a run that goes from one to the next meanwhile would be missed
	Platform    string
	Undelivered bool // over, meant to be delivered, and could be delivered neither at once nor since
	// Text is part of the tool's id or of the error, or the beginning or the end of the run's or the account's id, from eight characters on;
	// case does not matter; at most 200 bytes.
	Text   string
	Since  time.Time // accepted then or later
	Until  time.Time // accepted before
	Before string    // a run id: only older ones, for paging
	Limit  int       // 1 to 200; 0 means 50
}
