package door

import (
	"net/http"

	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Use says what an address does, which decides who may come there: see caller.may. docs/people.md shows it as a table.
type Use int

// The values of Use. The zero value is none of them: an address that does not say what it does is refused at the start.
const (
	Public         Use = iota + 1 // nothing of anybody's, or what a secret in the address or a signature opens
	Enter                         // the ways in: signing in, joining accounts, invitations
	Read                          // the tools, and what the caller's runs are and cost
	View                          // pages of the caller's own, with all runs and more
	Content                       // drawings, sites and documents, read or changed by no tool
	Run                           // tools: prices, uploads, runs, canceling
	Approve                       // gives the owner's word to a run that waits for it: approval, or an answer
	Manage                        // keys and endpoints for programs
	Person                        // what is done there is taken for a person's own act, and all about their account
	OperatorRead                  // what is everybody's
	OperatorChange                // changes what is everybody's
	Watch                         // figures for the monitoring: what the program does and earns
)

// kind is by what a caller is known.
type kind int

const (
	nobody     kind = iota
	session         // a browser that is signed in, or the person at this machine
	fullKey         // a key without restrictions, or the operator's token
	limitedKey      // a key with a spending limit, or for some tools
	agentKey        // a key with which a model acts, with other restrictions or without
	watchToken      // the token of the monitoring; it is nobody's account
)

// caller is who sent a request.
type caller struct {
	kind    kind
	account users.Account
	session users.Session // zero: a key was sent, or it is the person at this machine
	key     users.Key     // zero: no key, or the operator's token
}

// may is the one rule of who may do what; what it does not name may not be done. Nobody is an operator by a key that is
// restricted: see users.Key.Narrow.
func (c caller) may(use Use) bool {
	switch use {
	case Public:
		return true
	case Enter:
		return c.kind == nobody || c.kind == session
	case Read, Run:
		return c.kind != nobody && c.kind != watchToken
	case View: // what a page shows is more than tools and runs of one's own
		return c.may(Read) && !c.account.Narrowed()
	case Content:
		return c.may(Read) && c.account.Tools == registry.Everyone
	case Approve, Manage:
		return c.kind == session || c.kind == fullKey
	case Person:
		return c.kind == session
	case OperatorRead, OperatorChange:
		return c.account.Operator && (c.kind == session || c.kind == fullKey)
	case Watch:
		return c.kind == watchToken || c.may(OperatorRead)
	}
	return false
}

// ErrSignedOut is the error of requests whose sender is not known: they came without a key, or with one that is none (any more).
var ErrSignedOut = &problem.Problem{Status: http.StatusUnauthorized, Code: "unauthorized", Detail: "No valid key came with the request: send an API key of this house as Authorization: Bearer KEY, or sign in."}

// ErrNoOperator keeps all but operators out; on pages there is nothing for them.
var ErrNoOperator = registry.Errorf(registry.CodeUnauthorized, "this is for operators; a key with a spending limit or for some tools and an agent's key are never an operator's")

// ErrAgentsKey refuses to take a model's word for its owner's.
var ErrAgentsKey = registry.Errorf(registry.CodeUnauthorized, "an agent's key approves nothing: its owner does, on the run's page or with another key")

// refusal says why a caller may not do something.
func (c caller) refusal(use Use) error {
	switch {
	case c.kind == nobody:
		return ErrSignedOut
	case use == OperatorRead || use == OperatorChange || use == Watch:
		return ErrNoOperator
	case c.kind == watchToken:
		return registry.Errorf(registry.CodeUnauthorized, "METRICS_TOKEN opens GET /metrics and nothing else")
	case use == View:
		return registry.Errorf(registry.CodeUnauthorized, "this key sees its own runs or some tools only, and pages show more; use the API")
	case use == Content:
		return registry.Errorf(registry.CodeUnauthorized, "this key is for some tools only, which this is none of")
	case use == Approve && c.kind == limitedKey: // others may have begun the run, beyond its limit
		return registry.Errorf(registry.CodeUnauthorized, "a key with a spending limit or for some tools approves nothing: its owner does, on the run's page or with another key")
	case use == Approve:
		return ErrAgentsKey
	case use == Manage && c.kind == limitedKey:
		return registry.Errorf(registry.CodeUnauthorized, "a key with a spending limit or for some tools can't make or change keys and endpoints; use a key without restrictions, or the page")
	case use == Manage:
		return registry.Errorf(registry.CodeUnauthorized, "an agent's key can't make or change keys and endpoints; its owner can, on the page or with another key")
	}
	return registry.Errorf(registry.CodeUnauthorized, "this is for people who are signed in on the page; with a key, use the API")
}
