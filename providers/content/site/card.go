package site

import (
	"context"
	"net/http"
	"strings"
)

// startCard is the name of the start's card: no slug is like it.
const startCard = "-"

// cardOf is the address of the card that stands for the page at an address of this site where it has no picture; empty: cards are not drawn.
func (s *Server) cardOf(address string) string {
	rest, ours := strings.CutPrefix(address, s.absolute(s.root+"/"))
	if s.cfg.Card == nil || !ours {
		return ""
	}
	if rest = strings.Trim(rest, "/"); rest == "" {
		rest = startCard
	}
	return s.absolute(s.root + "/card/" + rest + ".png")
}

// card draws the card of a page that everybody may see.
func (v *view) card(ctx context.Context, path string, r *http.Request) (*page, error) {
	switch path {
	case "":
		return nil, errNothing
	case startCard:
		path = ""
	}
	of, err := v.find(ctx, path, r)
	if err != nil {
		return nil, err
	}
	if of.status != http.StatusOK || !of.keep || of.title == "" {
		return nil, errNothing
	}
	drawn, err := v.server.cfg.Card(ctx, of.title, v.name())
	if err != nil {
		return nil, err
	}
	return newPage(http.StatusOK, "image/png", drawn), nil
}
