package settings

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
)

// LanguageCommand sets the language the person is spoken to in, or lets them choose.
func LanguageCommand(ctx context.Context, t *turn.Turn) error {
	words := strings.TrimSpace(t.In.Text)
	for _, code := range t.Services.Texts.Languages() {
		if words != "" && (strings.EqualFold(words, code) || strings.EqualFold(words, languageName(code)) || t.Services.Texts.Match(words) == code) {
			return chooseLanguage(ctx, t, code)
		}
	}
	m, err := languageMessage(ctx, t, t.Keyboard(store.KeyboardState{}))
	if err != nil {
		return err
	}
	if words != "" {
		m.Text = chat.Lines(t.Say.Text("language.unknown"), m.Text)
	}
	return t.Respond(ctx, m)
}

// languageName is what a language calls itself.
func languageName(code string) string { return words.Capital(display.Self.Name(language.Make(code))) }

// languageMessage offers the languages there are, and the one the platform tells.
func languageMessage(ctx context.Context, t *turn.Turn, k store.Keyboard) (chat.Message, error) {
	var options []chat.MenuOption
	for _, code := range t.Services.Texts.Languages() {
		options = append(options, chat.MenuOption{Label: languageName(code), Chosen: code == t.Account.Language})
	}
	options = append(options, chat.MenuOption{Label: t.Say.Line("language.automatic")})
	m := chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("language.choose")}
	t.Offer(&m, k, "lang", "menu.language", options)
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// chooseLanguage stores the choice of a language and confirms it in that language.
func chooseLanguage(ctx context.Context, t *turn.Turn, code string) error {
	if err := t.Services.Accounts.SetLanguage(ctx, t.Account.ID, code); err != nil {
		return fmt.Errorf("store the language: %w", err)
	}
	t.Account.Language, t.Say = code, t.Services.Deliverer.Voice(code, t.In.From.Language)
	return t.Tell(ctx, "language.set", "language", languageName(t.Say.Language()))
}

// PressLanguage chooses a language; the number after the last one lets the platform decide.
func PressLanguage(ctx context.Context, t *turn.Turn, _ store.Keyboard, n int) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	code := ""
	if languages := t.Services.Texts.Languages(); n < len(languages) {
		code = languages[n]
	}
	t = t.Aside()
	return chooseLanguage(ctx, t, code)
}

// PressLanguages shows the languages to choose from.
func PressLanguages(ctx context.Context, t *turn.Turn, _ store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	t = t.Aside()
	m, err := languageMessage(ctx, t, t.Keyboard(store.KeyboardState{}))
	if err != nil {
		return err
	}
	return t.Respond(ctx, m)
}
