package web

import (
	"io"
	"net/http"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/users"
)

// Uses are the names that docs/people.md has for what an address does.
var Uses = map[string]Use{
	"public": Public, "enter": door.Enter, "read": Read, "view": door.View, "content": Content, "run": Run, "approve": Approve, "manage": Manage, "person": Person,
	"operator reads": OperatorRead, "operator changes": OperatorChange, "watch": door.Watch,
}

// LetIn is what Stubbed answers whom it lets in.
const LetIn = "let in"

// Stubbed serves the addresses with their own doors, behind which everything answers LetIn, and tells them with their uses.
func (s *Server) Stubbed() (http.Handler, map[string]Use, error) {
	table, err := s.table()
	if err != nil {
		return nil, nil, err
	}
	uses := map[string]Use{}
	for i, a := range table {
		uses[a.Pattern] = a.Use
		table[i].Handler = func(w http.ResponseWriter, _ *http.Request, _ users.Account) error {
			_, err := io.WriteString(w, LetIn)
			return err
		}
	}
	mux, err := s.serve(table)
	return s.door.Guard(mux), uses, err
}
