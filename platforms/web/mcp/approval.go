package mcp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// approvalLife is how long a question may stay unanswered.
const approvalLife = 10 * time.Minute

// question is the key of our only input request.
const question = "confirm"

// approval is a question that was put to somebody. Its members bind the answer to one call.
type approval struct {
	Account string `json:"account"`
	Tool    string `json:"tool"`
	Version string `json:"version"`
	Inputs  string `json:"inputs"` // hash of the arguments as they came
	High    int64  `json:"high"`   // the most it may cost, in nano-dollars
	Expires int64  `json:"expires"`
	Nonce   string `json:"nonce"`
}

// key makes an approved call run once; empty where nothing was asked.
func (a approval) key() string {
	if a.Nonce == "" {
		return ""
	}
	return "mcp:" + a.Nonce
}

// needed reports whether somebody has to be asked before a call.
func needed(tool registry.Tool, quote billing.Quote) bool {
	return quote.High > 0 || tool.Confirmation != "" || tool.Capability == registry.CapabilityWrite
}

// approve gives the question that has to be put first, or the approval that there is. Where nobody has to be asked both
// are empty.
func (s *Server) approve(c caller, b runs.Bound, quote billing.Quote, req *sdk.CallToolRequest) (*sdk.CallToolResult, approval, error) {
	if !needed(b.Tool, quote) {
		return nil, approval{}, nil
	}
	now, err := s.newApproval(c, b, quote, req)
	if err != nil {
		return nil, approval{}, err
	}
	if req.Params.RequestState == "" {
		if client := req.ClientCapabilities(); client == nil || client.Elicitation == nil {
			return nil, approval{}, unasked(c, b.Tool, quote)
		}
		state, err := s.seal(now)
		return &sdk.CallToolResult{RequestState: state, InputRequests: sdk.InputRequestMap{question: &sdk.ElicitParams{
			Mode: "form", Message: card(b, quote), RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}}}, approval{}, err
	}
	given, err := s.open(req.Params.RequestState)
	if err != nil {
		return nil, approval{}, err
	}
	if given.Account != now.Account || given.Tool != now.Tool || given.Version != now.Version || given.Inputs != now.Inputs || given.High < now.High {
		return nil, approval{}, registry.Errorf(registry.CodeInvalidInput, "the confirmation is for another call; make this one anew")
	}
	if s.cfg.Now().Unix() > given.Expires {
		return nil, approval{}, registry.Errorf(registry.CodeInvalidInput, "the confirmation came too late; make the call anew")
	}
	if answer, ok := req.Params.InputResponses[question].(*sdk.ElicitResult); !ok || answer.Action != "accept" {
		return refusal("It was not confirmed, so nothing was run and nothing was charged."), approval{}, nil
	}
	return nil, given, nil
}

// unasked judges a call whose client can't ask: nil where the key's spending limit has answered.
func unasked(c caller, tool registry.Tool, quote billing.Quote) error {
	if c.budget.Limit > 0 && tool.Confirmation == "" && tool.Capability != registry.CapabilityWrite {
		return nil
	}
	return registry.Errorf(registry.CodeUnauthorized,
		"%s (%s) must be confirmed by a person, and this client can't ask one; use a client with elicitation, or for what only costs money a key with a spending limit", tool.DisplayName, quote)
}

func (s *Server) newApproval(c caller, b runs.Bound, quote billing.Quote, req *sdk.CallToolRequest) (approval, error) {
	arguments := req.Params.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	canonical, err := registry.CanonicalJSON(arguments)
	if err != nil {
		return approval{}, registry.Errorf(registry.CodeInvalidInput, "the arguments are no JSON")
	}
	nonce := make([]byte, 16)
	if _, err := io.ReadFull(s.cfg.Random, nonce); err != nil {
		return approval{}, err
	}
	sum := sha256.Sum256(canonical)
	return approval{
		Account: c.account.ID, Tool: b.Tool.ToolID, Version: b.Tool.Version, Inputs: hex.EncodeToString(sum[:]), High: int64(quote.High),
		Expires: s.cfg.Now().Add(approvalLife).Unix(), Nonce: hex.EncodeToString(nonce),
	}, nil
}

// card is what the person reads: tool, price, inputs.
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
