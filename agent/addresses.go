package agent

import (
	"fmt"
	"regexp"
	"strings"
)

// upload matches the address of one of the site's own files, with whatever host a model put in front of it.
var upload = regexp.MustCompile(`(?:https?:)?(?://[^\s/"'<>()]+)?(/uploads/[^\s"'<>()\]]+)`)

// relative takes the hosts off the site's own addresses: a page keeps working wherever the site moves.
func relative(text string) string { return upload.ReplaceAllString(text, "$1") }

// invented is the first of the site's addresses in a text that neither a tool nor the person has named; empty if there is none.
func (t *talk) invented(text string) string {
	for _, found := range upload.FindAllStringSubmatch(text, -1) {
		if address := strings.TrimRight(found[1], ".,;:!?"); !t.heard(address) {
			return address
		}
	}
	return ""
}

// heard reports whether the model was told of an address.
func (t *talk) heard(address string) bool {
	for _, turn := range t.with.Turns {
		if turn.By == Person && strings.Contains(turn.Text, address) {
			return true
		}
		for _, r := range turn.Results {
			if strings.Contains(r.Text, address) {
				return true
			}
		}
	}
	return false
}

// flaw says why an answer goes back to the model: it claims a change that nobody has looked at, or shows a file that there is
// not. An answer goes back once.
func (t *talk) flaw(text string) string {
	if t.sentBack {
		return ""
	}
	if thing := t.unread(); thing != "" {
		return lookFirst(thing)
	}
	if address := t.invented(text); address != "" {
		return fmt.Sprintf("no tool returned %s: use the exact url of a result, or leave it out", address)
	}
	return ""
}
