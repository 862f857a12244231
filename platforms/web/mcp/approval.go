package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// question is the key of our only input request.
const question = "confirm"

// approval is a question that was put to somebody: may this run, which waits for it, go ahead? Its members bind the answer to one call;
// that it comes in time and lets the run go ahead once is looked after by runs.
type approval struct {
	Account string `json:"account"`
	Budget  string `json:"budget"` // that of the key that was asked
	Tool    string `json:"tool"`
	Inputs  string `json:"inputs"` // hash of the arguments as they came
	Run     string `json:"run"`
	Summary string `json:"summary"` // hash of what was shown

	Personal []string `json:"personal,omitempty"` // what may be granted
}

// ask puts the question that a call needs, about a run that waits for the answer.
func (s *Server) ask(ctx context.Context, c caller, b runs.Bound, quote billing.Quote, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	inputs, err := hashOf(req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	run, err := s.cfg.Runs.AcceptBound(ctx, b)
	if err != nil {
		return nil, err
	}
	state, err := s.seal(approval{Account: c.account.ID, Budget: c.budget.Name, Tool: b.Tool.ToolID, Inputs: inputs, Run: run.ID, Summary: run.Summary().Hash(), Personal: b.Tool.PIIRequired})
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{RequestState: state, InputRequests: sdk.InputRequestMap{question: &sdk.ElicitParams{
		Mode: "form", Message: card(c.voice, b, quote), RequestedSchema: map[string]any{"type": "object", "properties": grants(c.voice, b.Tool.PIIRequired)},
	}}}, nil
}

// answered takes the answer to a question: the run that goes ahead, or an error. A run that was not confirmed is canceled.
func (s *Server) answered(ctx context.Context, c caller, toolID string, req *sdk.CallToolRequest) (runs.Run, error) {
	given, err := s.open(req.Params.RequestState)
	if err != nil {
		return runs.Run{}, err
	}
	inputs, err := hashOf(req.Params.Arguments)
	if err != nil {
		return runs.Run{}, err
	}
	if given.Account != c.account.ID || given.Budget != c.budget.Name || given.Tool != toolID || given.Inputs != inputs {
		return runs.Run{}, registry.Errorf(registry.CodeInvalidInput, "the confirmation is for another call; make this one anew")
	}
	answer, ok := req.Params.InputResponses[question].(*sdk.ElicitResult)
	if !ok || answer.Action != "accept" {
		run, err := s.cfg.Runs.Cancel(ctx, given.Run, given.Account)
		if err == nil && run.ConfirmedAt == nil {
			err = errDeclined
		}
		return run, err // one that was confirmed before is told as it has ended
	}
	if c.agent {
		return runs.Run{}, errByAgent
	}
	run, err := s.cfg.Runs.ConfirmSummary(ctx, given.Run, given.Account, given.Summary, granted(given.Personal, answer.Content))
	var gate *runs.GateError
	if errors.As(err, &gate) || err == nil && run.Status == runs.StatusCanceled && run.ConfirmedAt == nil {
		err = errLate
	}
	return run, err
}

// grants are the fields of a question by which the person keeps personal data back.
func grants(v i18n.Voice, personal []string) map[string]any {
	fields := map[string]any{}
	for _, scope := range personal {
		fields[scope] = map[string]any{"type": "boolean", "title": v.Line("mcp.send", "what", scope), "default": true}
	}
	return fields
}

// granted is the personal data that the answer does not keep back.
func granted(personal []string, answer map[string]any) []string {
	return slices.DeleteFunc(slices.Clone(personal), func(scope string) bool { return answer[scope] == false })
}

var (
	errDeclined = registry.Errorf(registry.CodeCanceled, "It was not confirmed, so nothing was run and nothing was charged.")
	errByAgent  = registry.Errorf(registry.CodeUnauthorized, "an agent's key approves nothing: its owner does, on the run's page or with another key")
	errLate     = registry.Errorf(registry.CodeInvalidInput, "the confirmation came too late; make the call anew")
)

// unasked judges a call whose client can't ask: nil where the key's spending limit has answered, which is its owner's word for what only costs
// money.
func unasked(c caller, b runs.Bound, quote billing.Quote) *unaskedError {
	t := b.Tool
	if c.budget.Limit > 0 && t.Confirmation == "" && len(t.PIIRequired) == 0 && b.Capability() != registry.CapabilityWrite && b.Request.Approval != runs.ApproveAll {
		return nil
	}
	return &unaskedError{tool: t.DisplayName, price: priceOf(c.voice, quote), approval: b.Unasked(quote)}
}

// wait takes a call of an agent's on as a run that waits for its owner's word, and tells where that is given. Made again in
// the same trace, it is the run that was confirmed.
func (s *Server) wait(ctx context.Context, c caller, b runs.Bound, refused *unaskedError) (runs.Run, error) {
	run, err := s.cfg.Runs.Ask(ctx, b.Request)
	var waits *runs.ApprovalError
	if errors.As(err, &waits) {
		refused.at, err = c.base+"/run/"+run.ID, refused
	}
	return run, err
}

// unaskedError is a *runs.ApprovalError with what to do about it here.
type unaskedError struct {
	tool, price string
	at          string // the page of the run that waits; empty: none does
	approval    *runs.ApprovalError
}

// Error says what is missing.
func (e *unaskedError) Error() string {
	if e.at != "" {
		return e.tool + " (" + e.price + ") waits until the key's owner confirms it at " + e.at
	}
	if e.approval.Elsewhere {
		return e.tool + ": " + e.approval.Error() + ", and this client can't ask"
	}
	return e.tool + " (" + e.price + ") must be confirmed by a person, and this client can't ask one; use a client with elicitation, or for what only costs money a key with a spending limit"
}

// Unwrap gives the kind of the refusal.
func (e *unaskedError) Unwrap() error { return e.approval }

// hashOf is the hash of arguments in canonical form.
func hashOf(arguments json.RawMessage) (string, error) {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	canonical, err := registry.CanonicalJSON(arguments)
	if err != nil {
		return "", registry.Errorf(registry.CodeInvalidInput, "the arguments are no JSON")
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// priceOf is a price as the caller reads it.
func priceOf(v i18n.Voice, quote billing.Quote) string {
	if quote.High == 0 {
		return v.Line("price.free")
	}
	return v.Between(quote.Low, quote.High)
}

// card is what the person reads, in their language: tool, price, inputs, and personal data that goes out.
func card(v i18n.Voice, b runs.Bound, quote billing.Quote) string {
	var text strings.Builder
	tool := b.Tool.In(v.Language())
	text.WriteString(v.Line("mcp.run", "tool", tool.DisplayName) + "\n" + v.Line("price.exact", "price", priceOf(v, quote)))
	if quote.BillCanceled {
		text.WriteString("\n" + v.Line("price.canceled"))
	}
	changes := false // they are told in place of the inputs
	if p := b.Preview(); p != nil {
		changes = len(p.Changes) > 0
		told(v, &text, *tool, *p)
	}
	var given []registry.InputField
	for _, f := range tool.InputSchema.Ordered() {
		if from := b.Sources[f.Name]; from == runs.FromArgument && !changes {
			given = append(given, f)
		}
	}
	for _, f := range given[:min(len(given), 12)] {
		value, err := json.Marshal(b.Inputs[f.Name])
		if err != nil {
			continue
		}
		fmt.Fprintf(&text, "\n%s: %s", f.Label(), brief(string(value)))
	}
	if personal := b.Tool.PIIRequired; len(personal) > 0 {
		text.WriteString("\n" + v.Line("confirm.personal", "data", strings.Join(personal, ", ")))
	}
	return text.String()
}

// told writes what the call would do, as its provider said, with the titles of what would change.
func told(v i18n.Voice, text *strings.Builder, t registry.Tool, p registry.Preview) {
	const most = 20
	if asked := words.Asked(v, p); asked != "" {
		text.WriteString("\n" + asked)
	}
	for _, touched := range p.Touches[:min(len(p.Touches), most)] {
		text.WriteString("\n• " + touched.Label())
	}
	if more := len(p.Touches) - most; more > 0 {
		text.WriteString("\n" + v.Line("confirm.more", "n", more))
	}
	for _, c := range p.Changes {
		text.WriteString("\n" + words.Field(t, c.Field) + ": " + words.Marked(c.Pieces))
	}
	if p.Untold > 0 {
		text.WriteString("\n" + v.Line("confirm.more", "n", p.Untold))
	}
	if p.Link != "" {
		text.WriteString("\n" + v.Line("confirm.look") + ": " + p.Link)
	}
	for i, part := range p.Parts {
		fmt.Fprintf(text, "\n%d. %s · %s", i+1, part.Name, words.PartPrice(v, part))
		for _, in := range part.Inputs {
			text.WriteString("\n   " + in.Label + ": " + brief(words.PartValue(v, in)))
		}
	}
}

// brief is the beginning of a value.
func brief(value string) string {
	if shown := []rune(value); len(shown) > 200 {
		return string(shown[:200]) + "…"
	}
	return value
}

func (s *Server) seal(a approval) (string, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(s.sign(raw), raw...)), nil
}

func (s *Server) open(state string) (approval, error) {
	var a approval
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil || len(raw) < sha256.Size || !hmac.Equal(raw[:sha256.Size], s.sign(raw[sha256.Size:])) {
		return a, registry.Errorf(registry.CodeInvalidInput, "the request state is none of ours; make the call anew")
	}
	return a, json.Unmarshal(raw[sha256.Size:], &a)
}

func (s *Server) sign(raw []byte) []byte {
	mac := hmac.New(sha256.New, s.cfg.Secret)
	io.WriteString(mac, "mcp approval:")
	mac.Write(raw)
	return mac.Sum(nil)
}
