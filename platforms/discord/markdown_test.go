package discord

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/platforms/chat"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text chat.Text
		want string
	}{
		"plain text shows as it is":                      {chat.Plain("2*3*4 _a_ ~b~ |c| `d` <@1> [e]"), `2\*3\*4 \_a\_ \~b\~ \|c\| ` + "\\`d\\`" + ` \<@1> \[e\]`},
		"a line does not become a heading":               {chat.Plain("# a\n- b\n> c\n1. d\n-# e"), "\\# a\n\\- b\n\\> c\n1\\. d\n\\-# e"},
		"signs within a line stay":                       {chat.Plain("a # b - c > d"), "a # b - c > d"},
		"an address stays, without a preview":            {chat.Plain("see https://x.example/a_b_c?d=*"), "see <https://x.example/a_b_c?d=*>"},
		"what goes and what comes":                       {chat.Text{{Style: chat.StyleGone, Text: "a~b"}, {Text: " "}, {Style: chat.StyleNew, Text: "c"}}, "~~a\\~b~~ **c**"},
		"bold keeps white space outside":                 {chat.Text{{Style: chat.StyleBold, Text: " a_b\n"}}, " **a\\_b**\n"},
		"code with a back-tick":                          {chat.Text{{Style: chat.StyleCode, Text: "a`b"}}, "`` a`b ``"},
		"code":                                           {chat.Text{{Style: chat.StyleCode, Text: "a_b"}}, "`a_b`"},
		"a block can't be closed from inside":            {chat.Text{{Style: chat.StylePre, Text: "a```b"}}, "```\na`\u200b``b\n```"},
		"a quote begins a line, and all of it":           {chat.Text{{Text: "a"}, {Style: chat.StyleQuote, Text: "b\nc"}}, "a\n> b\n> c"},
		"a link shows no preview":                        {chat.Text{{Style: chat.StyleLink, Text: "x]", URL: "https://x.example/a b>"}}, `[x\]](<https://x.example/a%20b%3E>)`},
		"a mention of a person":                          {chat.Text{{Style: chat.StyleMention, Text: "Anna", URL: "123"}}, "<@123>"},
		"bot-ux 34 a time is shown in the reader's zone": {chat.Text{{Text: "since "}, {Style: chat.StyleTime, Text: "2026-11-23 07:32 UTC", At: time.Unix(1795419120, 0)}}, "since <t:1795419120:f>"},
		"a mention of nobody":                            {chat.Text{{Style: chat.StyleMention, Text: "Anna", URL: "&12"}}, "Anna"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := markdown(c.text, MaxText); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	t.Run("a text that its markup makes too long is cut within the limit", func(t *testing.T) {
		t.Parallel()
		for _, text := range []chat.Text{
			chat.Plain(strings.Repeat("*", 1999)),
			{{Style: chat.StyleBold, Text: strings.Repeat("ä_", 900)}, {Text: "end"}},
			{{Style: chat.StylePre, Text: strings.Repeat("x", 1999)}},
		} {
			got := markdown(text, MaxText)
			if n := utf8.RuneCountInString(got); n > MaxText || n < MaxText/2 || !strings.HasSuffix(got, "…") {
				t.Errorf("%d characters ending in %q", n, got[len(got)-10:])
			}
		}
	})
}
