package graph

// Severity grades a Finding.
type Severity string

// The severities. An error means that the tool would not run as written.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityInfo    Severity = "info"
)

// Finding is one lint result. Its texts never hold widget values that could be secrets.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`          // what and where, one line
	Advice   string   `json:"advice,omitempty"` // what to do
	Node     string   `json:"node,omitempty"`   // id or path, where one node is concerned
}

// AddFinding notes what was found; node is the id of the node that it concerns, or empty.
func (f *Flat) AddFinding(code string, sev Severity, node, message, advice string) {
	f.Findings = append(f.Findings, Finding{Code: code, Severity: sev, Node: node, Message: message, Advice: advice})
}
