package openapi

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/said"
)

// auth is how one security scheme opens an operation. Secrets are named by their variables, never kept.
type auth struct {
	Kind     string `json:"kind"` // header, query, cookie, bearer, basic, client
	Name     string `json:"name,omitempty"`
	Secret   string `json:"secret"`             // the variable of the key, token, or password
	User     string `json:"user,omitempty"`     // the variable of the user, or of the client's id
	TokenURL string `json:"tokenUrl,omitempty"` // of kind client
	Scope    string `json:"scope,omitempty"`    // of kind client
	Optional bool   `json:"optional,omitempty"` // left out where the operator gives no secret
}

// auth gives the first of an operation's alternatives whose secrets are all there; where there is none, the
// first, and a line that says what is missing.
func (d *document) auth(op *ordered.Object, lookup func(string) (string, bool)) ([]auth, said.Text) {
	alternatives := op.List("security")
	if !op.Has("security") {
		alternatives = d.root.List("security")
	}
	var first []auth
	var missing said.Text
	free := false // one alternative is to open it with nothing, which is taken last: services give more to those they know
	for _, v := range alternatives {
		needs, _ := v.(*ordered.Object)
		if needs.Len() == 0 {
			free = true
			continue
		}
		list, problem := d.schemes(needs, lookup)
		if problem.String() == "" {
			return list, problem
		}
		if missing.String() == "" {
			first, missing = list, problem
		}
	}
	if free {
		return nil, said.Text{}
	}
	return first, missing
}

// schemes are those that one alternative needs, all of them.
func (d *document) schemes(needs *ordered.Object, lookup func(string) (string, bool)) ([]auth, said.Text) {
	var list []auth
	var unset []string
	for _, need := range needs.Members() {
		scheme, _ := d.open(d.root.Object("components").Object("securitySchemes").Get(need.Name))
		scopes, _ := need.Value.([]any)
		a, ok := d.scheme(need.Name, scheme, scopes, lookup)
		if !ok {
			return nil, said.Text{Words: fmt.Sprintf("its service wants the kind of sign-in %q (%s %s), which is not known here", need.Name, scheme.Text("type"), scheme.Text("scheme"))}
		}
		list = append(list, a)
		for _, variable := range []string{a.User, a.Secret} {
			if value, set := lookup(variable); variable != "" && (!set || value == "") {
				unset = append(unset, variable)
			}
		}
	}
	if len(unset) > 0 {
		return list, said.OperatorMust.With("name", strings.Join(unset, " and "))
	}
	return list, said.Text{}
}

func (d *document) scheme(name string, s *ordered.Object, scopes []any, lookup func(string) (string, bool)) (auth, bool) {
	switch kind, how := s.Text("type"), strings.ToLower(s.Text("scheme")); {
	case kind == "apiKey":
		return auth{Kind: s.Text("in"), Name: s.Text("name"), Secret: d.variable(name, "KEY")}, true
	case kind == "http" && how == "basic":
		return auth{Kind: "basic", User: d.variable(name, "USER"), Secret: d.variable(name, "PASSWORD")}, true
	case kind == "http" && how == "bearer", kind == "openIdConnect":
		return auth{Kind: "bearer", Secret: d.variable(name, "TOKEN")}, true
	case kind == "oauth2":
		return d.oauth2(name, s, scopes, lookup), true
	}
	return auth{}, false
}

// oauth2 takes a token that the operator gives, or fetches one by the client credentials flow.
func (d *document) oauth2(name string, s *ordered.Object, scopes []any, lookup func(string) (string, bool)) auth {
	given := auth{Kind: "bearer", Secret: d.variable(name, "TOKEN")}
	flow := s.Object("flows").Object("clientCredentials")
	if token, set := lookup(given.Secret); flow == nil || set && token != "" {
		return given
	}
	words := make([]string, 0, len(scopes))
	for _, scope := range scopes {
		words = append(words, fmt.Sprint(scope))
	}
	return auth{
		Kind: "client", User: d.variable(name, "CLIENT_ID"), Secret: d.variable(name, "CLIENT_SECRET"),
		TokenURL: flow.Text("tokenUrl"), Scope: strings.Join(words, " "),
	}
}
