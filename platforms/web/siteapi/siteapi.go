// Package siteapi is the content of sites over HTTP, under /api/site: pages, sections, posts, menus, collections, images, and who may
// change them. Each address is one of the tools that run a site, called with what path, query and body say, so both give the same
// answers. It is mounted where models' keys may look and only people and their own programs may change something.
package siteapi

import (
	"cmp"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/users"
)

// Handler serves the addresses. Who may come is decided where it is mounted.
func Handler(cfg Config) http.Handler {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := server{cfg}
	mux := http.NewServeMux()
	for _, a := range addresses {
		mux.HandleFunc(a.pattern(), door.Answering(cfg.Caller, cfg.Logger, func(w http.ResponseWriter, r *http.Request, caller users.Account) error {
			return s.serve(w, r, caller, a)
		}))
	}
	return mux
}

func (s server) serve(w http.ResponseWriter, r *http.Request, caller users.Account, a address) error {
	in := request{Request: r, account: caller.ID, site: s.Site(cmp.Or(r.URL.Query().Get(siteParameter), house), caller.Operator)}
	var answer any
	err := s.read(w, &in)
	if err == nil {
		answer, err = a.do(s, in)
	}
	if err == nil && a.shape == finds && plain(answer)["count"] == 0.0 {
		err = errNothing
	}
	if err != nil {
		return err
	}
	code := http.StatusOK
	if a.shape == creates {
		code = http.StatusCreated
	}
	if own, ok := answer.(status); ok {
		code, answer = own.code, own.body
	}
	door.WriteJSON(w, code, answer)
	return nil
}
