package pages

import (
	"net/url"
	"strconv"

	"github.com/signalbox/signalbox/internal/card"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/runs"
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
	for i, a := range chat.FollowUps(run) {
		links = append(links, useLink{Name: a.Label, URL: "/tool/" + url.PathEscape(a.Tool) + "?follow=" + run.ID + "." + strconv.Itoa(i)})
	}
	return links
}
