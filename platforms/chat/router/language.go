package router

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
)

// languageCommand sets the language the person is spoken to in, or lets them choose.
func languageCommand(ctx context.Context, t *turn) error {
	words := strings.TrimSpace(t.in.Text)
	if words == "" {
		m, err := languageMessage(ctx, t, t.keyboard(store.KeyboardState{}))
		if err != nil {
			return err
		}
		return t.respond(ctx, m)
	}
	for _, code := range t.svc.Texts.Languages() {
		if strings.EqualFold(words, code) || strings.EqualFold(words, languageName(code)) || t.svc.Texts.Match(words) == code {
			return chooseLanguage(ctx, t, code)
		}
	}
	return t.tell(ctx, "language.unknown", "languages", strings.Join(t.svc.Texts.Languages(), ", "))
}

// languageName is what a language calls itself.
func languageName(code string) string { return words.Capital(display.Self.Name(language.Make(code))) }

// languageMessage offers the languages there are, and the one the platform tells.
func languageMessage(ctx context.Context, t *turn, k store.Keyboard) (chat.Message, error) {
	var options []chat.MenuOption
	for _, code := range t.svc.Texts.Languages() {
		options = append(options, chat.MenuOption{Label: languageName(code), Chosen: code == t.account.Language})
	}
	options = append(options, chat.MenuOption{Label: t.say.Line("language.automatic")})
	m := chat.Message{To: t.in.Chat.Place, Text: t.say.Text("language.choose")}
	t.offer(&m, k, "lang", "menu.language", options)
	return m, t.svc.Store.Keyboards.Save(ctx, k)
}

// chooseLanguage stores the choice of a language and confirms it in that language.
func chooseLanguage(ctx context.Context, t *turn, code string) error {
	if err := t.svc.Accounts.SetLanguage(ctx, t.account.ID, code); err != nil {
		return fmt.Errorf("store the language: %w", err)
	}
	t.account.Language, t.say = code, t.svc.Deliverer.Voice(code, t.in.From.Language)
	return t.tell(ctx, "language.set", "language", languageName(t.say.Language()))
}

// pressLanguage chooses a language; the number after the last one lets the platform decide.
func pressLanguage(ctx context.Context, t *turn, _ store.Keyboard, n int) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	code := ""
	if languages := t.svc.Texts.Languages(); n < len(languages) {
		code = languages[n]
	}
	t = t.Aside()
	return chooseLanguage(ctx, t, code)
}

// pressLanguages shows the languages to choose from.
func pressLanguages(ctx context.Context, t *turn, _ store.Keyboard) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	t = t.Aside()
	m, err := languageMessage(ctx, t, t.keyboard(store.KeyboardState{}))
	if err != nil {
		return err
	}
	return t.respond(ctx, m)
}
