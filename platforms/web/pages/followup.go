package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/card"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// answerOf reads a text output as cards; nil for what is none.
func answerOf(text string) *card.Answer {
	if a, ok := card.Parse(text); ok && len(a.Cards) > 0 {
		return &a
	}
	return nil
}

// hostOf is the host of an address, which is shown for it: its label is a stranger's word.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// followUpLinks lead to the forms of the tools that a run's answers name, filled in. Nothing starts before the form is
// sent. A tool that is not there says so on its page.
func followUpLinks(run runs.Run) []useLink {
	var links []useLink
	for i, a := range words.FollowUps(run) {
		links = append(links, useLink{Name: a.Label, URL: "/tool/" + url.PathEscape(a.Tool) + "?follow=" + run.ID + "." + strconv.Itoa(i)})
	}
	return links
}

// followUp fills a form with the inputs of a follow-up action, "RUN.NUMBER". Those that name stored files are left out:
// they may be anybody's.
func (s *forms) followUp(r *http.Request, a users.Account, t registry.Tool, action string, typed map[string]any) error {
	id, index, _ := strings.Cut(action, ".")
	run, err := s.callers.Own(r.Context(), a, id)
	if err != nil {
		return err
	}
	actions := words.FollowUps(run)
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(actions) {
		return runs.ErrNotFound
	}
	if named, ok := s.tools.snapshot().Resolve(actions[i].Tool); !ok || named.ToolID != t.ToolID {
		return runs.ErrNotFound
	}
	for name, value := range actions[i].Inputs {
		if _, known := t.InputSchema.Get(name); known && !words.HoldsAsset(value) {
			typed[name] = value
		}
	}
	return nil
}
