package web

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/askapi"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Mount is a handler of another package under a path of ours. Caller names its account.
type Mount struct {
	Path    string // a pattern of http.ServeMux with its method, e.g. "GET /operator/"
	Use     Use    // what it does, which decides who may come
	Page    bool   // for people: who is signed out is led to the sign-in page, and errors are pages; else they are problem+json
	Handler http.Handler
	// AtOnce is how many requests of one account are answered at the same time; 0: any number.
	AtOnce int
	// Streams tells the requests whose answer stays open for as long as the client wants: each counts as an event stream of its
	// account. nil: none does.
	Streams func(r *http.Request) bool
	// Describe holds the paths that the handler adds to the API's OpenAPI document; its operations may name our
	// components.
	Describe map[string]any
}

// Use says what an address does, which decides who may come there: see door.Use.
type Use = door.Use

// What mounted handlers do: see door.Use.
const (
	Public         = door.Public
	Read           = door.Read
	Content        = door.Content
	Run            = door.Run
	Approve        = door.Approve
	Manage         = door.Manage
	Person         = door.Person
	OperatorRead   = door.OperatorRead
	OperatorChange = door.OperatorChange
)

// Platform is the name under which runs and identities of the web are kept.
const Platform = door.Platform

// Caller gives the account that sent the request of ctx. It is there in every handler of Config.Mounts.
func Caller(ctx context.Context) (users.Account, bool) { return door.Caller(ctx) }

// Budget is what the runs of the request of ctx draw on: see door.Budget.
func Budget(ctx context.Context) runs.Budget { return door.Budget(ctx) }

// ByAgent reports whether the request of ctx came with the key of an agent: see door.ByAgent.
func ByAgent(ctx context.Context) bool { return door.ByAgent(ctx) }

// Guesser is whose guesses at a secret a request counts for: see door.Door.Guesser.
func Guesser(r *http.Request) string { return door.GuesserOf(r) }

// CSRFInput is the hidden field that every form on the page that answers the request of ctx carries.
func CSRFInput(ctx context.Context) template.HTML { return door.CSRFInput(ctx) }

// CSRFToken is the token that scripts of the page that answers the request of ctx send with what they change.
func CSRFToken(ctx context.Context) string { return door.CSRFToken(ctx) }

// consoleOf is where operators work: what is mounted for them, "" for nothing.
func consoleOf(mounts []Mount) string {
	for _, m := range mounts {
		if m.Use == OperatorRead && m.Page {
			return strings.TrimPrefix(m.Path, "GET ")
		}
	}
	return ""
}

// improves reports whether prompts can be improved: what does so is mounted.
func improves(mounts []Mount) bool {
	return slices.ContainsFunc(mounts, func(m Mount) bool { return m.Path == "POST "+askapi.ImprovePath })
}

// described are the paths that mounted handlers add to the API's document.
func described(mounts []Mount) []map[string]any {
	var list []map[string]any
	for _, m := range mounts {
		list = append(list, m.Describe)
	}
	return list
}
