package runs

import (
	"time"
)

// Filter chooses runs; empty members choose all.
type Filter struct {
	AccountID   string // the runs of its history: without deleted ones
	ToolID      string
	Status      Status
	Platform    string
	Undelivered bool      // over, meant to be delivered, and not delivered yet
	Text        string    // part of the run's, account's or tool's id or of the error; case does not matter; at most 200 bytes
	Since       time.Time // accepted then or later
	Until       time.Time // accepted before
	Before      string    // a run id: only older ones, for paging
	Limit       int       // 1 to 200; 0 means 50
}
