package billing

import "math/big"

// Quote is what a run will cost, told before it starts. Low equals High when the price is exact.
// High is a promise: no more than that is ever taken.
type Quote struct {
	Low     NanoUSD `json:"low"`
	High    NanoUSD `json:"high"`
	Rate    string  `json:"rate,omitempty"` // US dollars per unit, exact decimal; empty when free
	Unit    string  `json:"unit,omitempty"` // second, token, request
	Source  string  `json:"source"`         // static, machine, api, historical, none
	Machine string  `json:"machine,omitempty"`
	Basis   string  `json:"basis,omitempty"` // one short line for people: "learned from the last 20 runs"
	// Fees are what others charge for parts of the run, by their price lists. Low and High contain them.
	Fees        NanoUSD `json:"fees,omitempty"`
	FeesUnknown bool    `json:"feesUnknown,omitempty"` // others charge for parts of the run, nobody knows what: it is not in the price
	// Share is what the tool's author gets of it at most. Low and High contain it.
	Share NanoUSD `json:"share,omitempty"`
	// BillCanceled says that the run pays for the time that it ran also when its owner cancels it. It was told so with the price.
	BillCanceled bool `json:"billCanceled,omitempty"`
	// Parts says that the run is made of others, which hold and pay for themselves: for the whole nothing is held but its author's share, and
	// it costs nothing more.
	Parts bool `json:"parts,omitempty"`
}

// Held is what is set aside while the run is under way.
func (q Quote) Held() NanoUSD {
	if q.Parts {
		return q.Share
	}
	return q.High
}

// Exact reports whether the price is known to the nano-dollar.
func (q Quote) Exact() bool { return q.Low == q.High }

// String writes the price for people: "free", "$0.02" or "$0.01 to $0.05".
func (q Quote) String() string {
	switch {
	case q.High == 0:
		return "free"
	case q.Exact():
		return q.High.String()
	}
	return q.Low.String() + " to " + q.High.String()
}

// Reasons of a receipt over nothing.
const (
	ReasonNone     = "none" // the tool has no price
	ReasonFailed   = "failed"
	ReasonCanceled = "canceled"
	ReasonTimedOut = "timed_out"
)

// Receipt is what a run did cost: Units times Rate and Fees, rounded to the nearest nano-dollar with ties to
// even, at least the operator's minimum, with the author's share, and never more than was promised.
type Receipt struct {
	RunID   string  `json:"runId"`
	Rate    string  `json:"rate"`                     // US dollars per unit, exact decimal, with the markup
	Unit    string  `json:"unit"`                     // second, token, request
	Units   string  `json:"units"`                    // how many, exact decimal
	Markup  string  `json:"markup,omitempty"`         // of the operator, a share: 0.2 is a fifth
	Minimum NanoUSD `json:"minimumNanoUsd,omitempty"` // the least a run costs, where that decided
	Fees    NanoUSD `json:"feesNanoUsd,omitempty"`    // what others charged for parts of the run, with the markup; added to units times rate
	Share   NanoUSD `json:"shareNanoUsd,omitempty"`   // of the cost, what the tool's author got
	Net     NanoUSD `json:"netNanoUsd,omitempty"`     // what it came to before markup, minimum and share, where that differs from what was to be paid
	Source  string  `json:"source"`
	Machine string  `json:"machine,omitempty"`
	Cost    NanoUSD `json:"costNanoUsd"`               // what was taken from the wallet
	Full    NanoUSD `json:"fullCostNanoUsd,omitempty"` // what it came to, where that is more than Cost
	Reason  string  `json:"reason,omitempty"`          // why it is zero: "none", "failed", "canceled", "timed_out"
	Note    string  `json:"note,omitempty"`            // one line where something differs from what the tool says

	Refunded   NanoUSD `json:"refundedNanoUsd,omitempty"` // what an operator gave back
	RefundNote string  `json:"refundNote,omitempty"`      // and why
}

// Capped bounds the receipt by what was promised. The rest is the operator's loss: people pay what they
// were told, and anyone who runs the machines carries the risk of a wrong estimate.
func (r Receipt) Capped(promised NanoUSD) Receipt {
	if r.Cost > promised {
		r.Full, r.Cost = r.Cost, promised
		r.Note = joinNotes(r.Note, "it came to "+r.Full.String()+"; you pay what was promised")
	}
	return r
}

// FullCost is what the run came to, whatever was taken.
func (r Receipt) FullCost() NanoUSD { return max(r.Cost, r.Full) }

// MarkupPercent is the operator's markup for people, such as 12.5%; empty where there is none.
func (r Receipt) MarkupPercent() string {
	markup, err := parseRat(r.Markup)
	if err != nil || markup.Sign() == 0 {
		return ""
	}
	return decimalText(markup.Mul(markup, big.NewRat(100, 1))) + "%"
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
