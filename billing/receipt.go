package billing

// Quote is what a run will cost, told before it starts. Low equals High when the price is exact.
type Quote struct {
	Low, High NanoUSD
	Rate      string // US dollars per unit, exact decimal; empty when free
	Unit      string // second, token, request
	Source    string // static, machine, api, historical, none
	Machine   string // GPU whose rate was taken, for source machine
	Basis     string // one short line for people: "learned from the last 20 runs", "first run: an estimate"
}

// Receipt is what a run did cost.
type Receipt struct {
	RunID   string  `json:"runId"`
	Rate    string  `json:"rate"`  // US dollars per unit, exact decimal
	Unit    string  `json:"unit"`  // second, token, request
	Units   string  `json:"units"` // how many, exact decimal
	Source  string  `json:"source"`
	Machine string  `json:"machine,omitempty"`
	Cost    NanoUSD `json:"costNanoUsd"`
	Reason  string  `json:"reason,omitempty"` // why it is zero: "none", "failed", "canceled", "timed_out"
}

// Balance of a wallet: what can be spent and what is held for running work.
type Balance struct {
	Available NanoUSD
	Held      NanoUSD
}
