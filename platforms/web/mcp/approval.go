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
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// question is the key of our only input request.
const question = "confirm"

// approval is a question that was put to somebody: may this run, which waits for it, go ahead? Its members bind the answer to one call;
// that it comes in time and lets the run go ahead once is looked after by runs.
type approval struct {
	Account string `json:"account"`
	Tool    string `json:"tool"`
	Inputs  string `json:"inputs"` // hash of the arguments as they came
	Run     string `json:"run"`
	Summary string `json:"summary"` // hash of what was shown
}

// needed reports whether somebody has to be asked before a call: what changes something, and what costs money.
func needed(b runs.Bound, quote billing.Quote) bool {
	return b.Asks() || quote.High > 0 && b.Tool.CancelFor == ""
}

// ask puts the question that a call needs, about a run that waits for the answer.
func (s *Server) ask(ctx context.Context, c caller, b runs.Bound, quote billing.Quote, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	inputs, err := hashOf(req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	b.Request.Approval = runs.ApproveAll
	run, err := s.cfg.Runs.AcceptBound(ctx, b)
	if err != nil {
		return nil, err
	}
	state, err := s.seal(approval{Account: c.account.ID, Tool: b.Tool.ToolID, Inputs: inputs, Run: run.ID, Summary: run.Summary().Hash()})
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{RequestState: state, InputRequests: sdk.InputRequestMap{question: &sdk.ElicitParams{
		Mode: "form", Message: card(b, quote), RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
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
	if given.Account != c.account.ID || given.Tool != toolID || given.Inputs != inputs {
		return runs.Run{}, registry.Errorf(registry.CodeInvalidInput, "the confirmation is for another call; make this one anew")
	}
	if answer, ok := req.Params.InputResponses[question].(*sdk.ElicitResult); !ok || answer.Action != "accept" {
		if _, err := s.cfg.Runs.Cancel(ctx, given.Run, given.Account); err != nil {
			return runs.Run{}, err
		}
		return runs.Run{}, errDeclined
	}
	run, err := s.cfg.Runs.ConfirmSummary(ctx, given.Run, given.Account, given.Summary)
	var gate *runs.GateError
	if errors.As(err, &gate) || err == nil && run.Status == runs.StatusCanceled && run.ConfirmedAt == nil {
		err = errLate
	}
	return run, err
}

var (
	errDeclined = registry.Errorf(registry.CodeCanceled, "It was not confirmed, so nothing was run and nothing was charged.")
	errLate     = registry.Errorf(registry.CodeInvalidInput, "the confirmation came too late; make the call anew")
)

// unasked judges a call whose client can't ask: nil where the key's spending limit has answered, which is its owner's word for what only costs
// money.
func unasked(c caller, b runs.Bound, quote billing.Quote) error {
	t := b.Tool
	if c.budget.Limit > 0 && t.Confirmation == "" && len(t.PIIRequired) == 0 && t.Capability != registry.CapabilityWrite && b.Request.Approval != runs.ApproveAll {
		return nil
	}
	return &unaskedError{tool: t.DisplayName, price: quote.String(), approval: &runs.ApprovalError{Reading: b.Asks() && b.Request.Approval == runs.ApproveAll && t.Capability == registry.CapabilityRead}}
}

// unaskedError is a *runs.ApprovalError with what to do about it here.
type unaskedError struct {
	tool, price string
	approval    *runs.ApprovalError
}

// Error says what is missing.
func (e *unaskedError) Error() string {
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

// card is what the person reads: tool, price, inputs, and personal data that goes out.
func card(b runs.Bound, quote billing.Quote) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Run %s?\nPrice: %s", b.Tool.DisplayName, quote)
	var names []string
	for _, f := range b.Tool.InputSchema.Ordered() {
		if from := b.Sources[f.Name]; from == runs.FromArgument {
			names = append(names, f.Name)
		}
	}
	for _, name := range names[:min(len(names), 12)] {
		value, err := json.Marshal(b.Inputs[name])
		if err != nil {
			continue
		}
		shown := []rune(string(value))
		if len(shown) > 200 {
			shown = append(slices.Clone(shown[:200]), '…')
		}
		fmt.Fprintf(&text, "\n%s: %s", name, string(shown))
	}
	if personal := b.Tool.PIIRequired; len(personal) > 0 {
		fmt.Fprintf(&text, "\nPersonal data that goes to the service: %s", strings.Join(personal, ", "))
	}
	return text.String()
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
