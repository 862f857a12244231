package lexicon_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/lexicon"
)

// said are the ids of what a text speaks of, surest first.
func said(l *lexicon.Lexicon, text string) []string {
	var ids []string
	for _, s := range l.Read(text, "").Meanings {
		ids = append(ids, l.Meanings()[s.Meaning].ID)
	}
	return ids
}

// What anybody may send as a search costs about as much as it is long.
func TestReadOfALongWord(t *testing.T) {
	l := lexicon.Standard()
	costs := func(letters int) float64 {
		return testing.AllocsPerRun(1, func() { l.Read(strings.Repeat("x", letters), "") })
	}
	if short, long := costs(50), costs(5000); long > short {
		t.Errorf("a word of 5000 letters takes %v allocations, one of 50 takes %v", long, short)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	l := lexicon.Standard()
	for text, want := range map[string]string{
		"remove the background please":         "remove-background",
		"cutting out my cat":                   "remove-background",
		"Könntest du den Hintergrund löschen?": "remove-background",
		"¿puedes quitar el fondo?":             "remove-background",
		"удали фон":                            "remove-background",
		"请帮我抠图":                                "remove-background",
		"tanscribe tihs":                       "transcribe",
		"Hintergrundmusik":                     "music",
		"text to image":                        "make-image",
		"image to text":                        "caption-image",
		"createInvoice":                        "invoice",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := said(l, text); !slices.Contains(got, want) {
				t.Errorf("got %v, want %s among them", got, want)
			}
		})
	}
	t.Run("a phrase hides what its words say by themselves", func(t *testing.T) {
		t.Parallel()
		if got := said(l, "remove the background"); slices.Contains(got, "do-delete") {
			t.Errorf("got %v", got)
		}
	})
	t.Run("the language is told by the words", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]string{
			"wie wird das Wetter": "de", "what is the weather": "en", "qué tiempo hace": "es", "какая погода": "ru", "天气怎么样": "zh",
		} {
			if got := l.Read(text, "").Language; got != want {
				t.Errorf("%s: got %q, want %q", text, got, want)
			}
		}
	})
	t.Run("only greetings are small talk", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]bool{"hello there": true, "thank you so much!": true, "hello, remove the background": false, "谢谢你": true, "": false,
			"What can you do?": true, "hallo, was kannst du?": true, "¿Qué puedes hacer?": true, "что ты умеешь?": true, "你能做什么？": true,
			"help": true, "help me remove the background": false, "what can you do with this picture": false} {
			if got := l.Read(text, "").SmallTalk; got != want {
				t.Errorf("%q: got %v", text, got)
			}
		}
	})
}

func TestSpelling(t *testing.T) {
	t.Parallel()
	s := lexicon.NewSpelling([]string{"sticker", "wallpaper", "this", "видео"})
	for typed, want := range map[string]string{"stikcer": "sticker", "wallpapre": "wallpaper", "tihs": "this", "виедо": "видео", "cat": "", "lantern": ""} {
		if got := strings.Join(s.Near(typed), " "); got != want {
			t.Errorf("%s: got %q, want %q", typed, got, want)
		}
	}
}

// No text may break the reader, which sees whatever people send.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "ä'ö", "把图放大", "createInvoice", "\xff\xfe", strings.Repeat("a", 300)} {
		f.Add(text)
	}
	l := lexicon.Standard()
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range l.Read(text, "de").Meanings {
			if s.Strength <= 0 || s.Meaning < 0 || s.Meaning >= len(l.Meanings()) {
				t.Errorf("%q: %+v", text, s)
			}
		}
	})
}
