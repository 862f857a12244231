package web

import (
	"io"
	"net/http"

	"github.com/signalbox/signalbox/users"
)

// Uses are the names that docs/people.md has for what an address does.
var Uses = map[string]Use{
	"public": Public, "enter": Enter, "read": Read, "run": Run, "approve": Approve, "manage": Manage, "person": Person,
	"operator reads": OperatorRead, "operator changes": OperatorChange, "watch": Watch,
}

// LetIn is what Stubbed answers whom it lets in.
const LetIn = "let in"

// Stubbed serves the addresses with their own doors, behind which everything answers LetIn, and tells them with their uses.
func (s *Server) Stubbed() (http.Handler, map[string]Use, error) {
	t, uses := s.addresses(), map[string]Use{}
	for i, a := range t.list {
		uses[a.pattern] = a.use
		t.list[i].handler = func(w http.ResponseWriter, _ *http.Request, _ users.Account) error {
			_, err := io.WriteString(w, LetIn)
			return err
		}
	}
	mux, err := t.mux()
	return s.guard(mux), uses, err
}
