package webchat

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Command says a tool's command with typed options, as a form gives them: it stands in the conversation as if it had
// been typed.
func (a *Adapter) Command(r *http.Request, account users.Account, c pages.ChatCommand) error {
	v, err := a.visit(nil, r, account)
	if err != nil {
		return err
	}
	options, files, err := v.optionsOf(c)
	if err != nil {
		return err
	}
	said := []rune(input.Spell(&c.Tool, options))
	if len(said) > maxSaid {
		said = append(said[:maxSaid-1], '…')
	}
	m := message{Mine: true, Body: body{Text: chat.Plain(string(said))}, Media: files}
	nonce := c.Form
	if nonce == "" || len(nonce) > maxNonce {
		nonce = newNonce()
	}
	if err := v.log.hear(r.Context(), v.chat, nonce, &m); err != nil {
		return err
	}
	in, err := v.update("m"+strconv.FormatInt(m.ID, 10), chat.KindMessage)
	if err != nil {
		return err
	}
	in.Message, in.Attachments = m.ref(v.chat, 0), m.attachments()
	in.Command, in.Options, in.Quote = strings.TrimPrefix(c.Tool.CommandName, "/"), options, c.Quote
	return v.receive(in)
}

// optionsOf are the options as the Router takes them: files by their number among those of the message.
func (v *visit) optionsOf(c pages.ChatCommand) (map[string]any, []media, error) {
	options, files := map[string]any{}, []media(nil)
	attach := func(f registry.InputField, value any) (any, error) {
		ref := fmt.Sprint(value)
		// What stands in the conversation was shown, so only the person's own files get there: to know what a file is called is not enough.
		foreign, err := assets.Foreign(v.r.Context(), v.cfg.Pool, v.account.ID, runs.FilesIn(ref))
		if err != nil {
			return nil, err
		}
		if foreign {
			return nil, registry.Say(registry.CodeInvalidInput, said.FileForeign).At(f.Name)
		}
		content, info, err := v.cfg.Files.OpenMedia(v.r.Context(), ref)
		if err != nil {
			gone := registry.Say(registry.CodeInvalidInput, said.EngineFileGone)
			gone.Cause = err
			return nil, gone
		}
		content.Close()
		files = append(files, media{Ref: ref, Name: info.Name, MIMEType: info.MIMEType, Bytes: info.Bytes, Width: info.Width, Height: info.Height, Kind: chat.KindOf(info.MIMEType)})
		return fmt.Sprintf("attachment:%d", len(files)-1), nil
	}
	for _, f := range c.Tool.InputSchema.Ordered() {
		value, given := c.Options[f.Name]
		list, several := value.([]any)
		switch {
		case !given:
		case !f.Type.IsMedia():
			options[f.Name] = value
		case several:
			attached := make([]any, len(list))
			for i, one := range list {
				var err error
				if attached[i], err = attach(f, one); err != nil {
					return nil, nil, err
				}
			}
			options[f.Name] = attached
		default:
			attached, err := attach(f, value)
			if err != nil {
				return nil, nil, err
			}
			options[f.Name] = attached
		}
	}
	return options, files, nil
}
