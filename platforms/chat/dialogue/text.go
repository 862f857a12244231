package dialogue

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/platforms/chat"
)

// marks are the markup that models write and that is shown as what it means. Links are none: their addresses are shown as
// text, so that a person sees where they lead and nothing is fetched or opened from them.
var (
	marks  = regexp.MustCompile("\\*\\*([^*\n]+)\\*\\*|`([^`\n]+)`")
	links  = regexp.MustCompile(`!?\[([^\]\n]*)\]\(([^)\s]+)\)`)
	titles = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
)

// written is a model's text as it is shown, without what looks like a key.
func written(text string) chat.Text {
	text = links.ReplaceAllString(strings.TrimSpace(plain.HideKeys(plain.Text(text))), "$1 ($2)")
	text = titles.ReplaceAllString(text, "**$1**")
	var shown chat.Text
	add := func(style chat.Style, s string) {
		if s != "" {
			shown = append(shown, chat.Segment{Style: style, Text: s})
		}
	}
	at := 0
	for _, m := range marks.FindAllStringSubmatchIndex(text, -1) {
		add(chat.StylePlain, text[at:m[0]])
		if m[2] >= 0 {
			add(chat.StyleBold, text[m[2]:m[3]])
		} else {
			add(chat.StyleCode, text[m[4]:m[5]])
		}
		at = m[1]
	}
	add(chat.StylePlain, text[at:])
	return shown
}

// split parts a text into messages of at most limit, where a line or a word ends.
func split(text chat.Text, limit int) []chat.Text {
	var pages []chat.Text
	var page chat.Text
	room := limit
	for _, s := range text {
		for chat.Length(s.Text) > room {
			head := s
			head.Text = upTo(s.Text, room)
			if head.Text != "" {
				page = append(page, head)
			}
			s.Text = strings.TrimLeft(s.Text[len(head.Text):], " \n")
			pages, page, room = append(pages, page), nil, limit
		}
		if s.Text != "" {
			page, room = append(page, s), room-chat.Length(s.Text)
		}
	}
	return append(pages, page)
}

// upTo is the longest beginning of a text within limit that ends with a line or a word, else with a character.
func upTo(text string, limit int) string {
	end, used := 0, 0
	for i, r := range text {
		if used += chat.Length(string(r)); used > limit {
			break
		}
		end = i + len(string(r))
	}
	for _, border := range []string{"\n", " "} {
		if at := strings.LastIndex(text[:end], border); at > end/2 {
			return text[:at]
		}
	}
	return text[:end]
}

// paged puts parts into as few messages as hold them, the foot into the last.
func paged(parts []chat.Text, foot chat.Text, limit int) []chat.Text {
	var pages []chat.Text
	var page chat.Text
	for _, part := range append(parts, foot) {
		if page != nil && page.Len()+part.Len()+2 > limit {
			pages, page = append(pages, page), nil
		}
		page = chat.Join("\n\n", page, part)
	}
	return append(pages, page)
}

// mostSources is how many documents are named below an answer.
const mostSources = 8

// sources are the documents that an answer's passages come from, numbered in the order in which they were found. Where a tool declares no
// schema for them, they are a text that is JSON.
func sources(answer agent.Answer) []chat.Text {
	var list []chat.Text
	seen := map[string]bool{}
	var walk func(data any)
	walk = func(data any) {
		switch data := data.(type) {
		case string:
			var list []any
			if strings.HasPrefix(data, "[") && json.Unmarshal([]byte(data), &list) == nil {
				walk(list)
			}
		case []any:
			for _, one := range data {
				walk(one)
			}
		case map[string][]any:
			for _, one := range data {
				walk(one)
			}
		case map[string]any:
			title, _ := data["title"].(string)
			address, _ := data["url"].(string)
			_, passage := data["snippet"].(string)
			if passage && title != "" && !seen[title+address] && len(list) < mostSources {
				seen[title+address] = true
				list = append(list, chat.Plain(fmt.Sprintf("[%d] %s", len(list)+1, strings.TrimSpace(plain.Line(title)+" "+plain.Line(address)))))
			}
		}
	}
	for _, s := range answer.Steps {
		walk(s.Result.Data)
	}
	return list
}
