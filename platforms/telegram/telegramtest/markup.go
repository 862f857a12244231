package telegramtest

import (
	"encoding/json"
	"net/url"
	"strings"
)

const (
	maxButtons      = 100
	maxButtonsInRow = 8
	maxMarkupBytes  = 10 << 10
)

// markup is a reply_markup after checking.
type markup struct {
	inline    [][]Button
	other     bool // a reply keyboard, its removal, or a forced reply
	force     bool
	selective bool
}

func parseMarkup(req *request) (markup, *apiError) {
	var out markup
	if !req.has("reply_markup") {
		return out, nil
	}
	raw := req.params["reply_markup"]
	var shape struct {
		Inline     *[][]Button     `json:"inline_keyboard"`
		Keyboard   json.RawMessage `json:"keyboard"`
		Remove     bool            `json:"remove_keyboard"`
		ForceReply bool            `json:"force_reply"`
		Selective  bool            `json:"selective"`
	}
	if err := json.Unmarshal([]byte(raw), &shape); err != nil {
		return out, badRequest("can't parse reply keyboard markup JSON object")
	}
	if len(raw) > maxMarkupBytes {
		return out, badRequest("reply markup is too long")
	}
	if shape.Inline == nil {
		if shape.Keyboard == nil && !shape.Remove && !shape.ForceReply {
			return out, badRequest("object expected as reply markup")
		}
		return markup{other: true, force: shape.ForceReply, selective: shape.Selective}, nil
	}
	out.force = shape.ForceReply
	total := 0
	for _, row := range *shape.Inline {
		if len(row) == 0 {
			continue // the service drops empty rows
		}
		for _, b := range row {
			if err := checkButton(b); err != nil {
				return out, err
			}
		}
		if total += len(row); total > maxButtons || len(row) > maxButtonsInRow {
			return out, badRequest("reply markup is too long")
		}
		out.inline = append(out.inline, row)
	}
	return out, nil
}

func checkButton(b Button) *apiError {
	if strings.TrimSpace(b.Text) == "" {
		return badRequest("field \"text\" must be non-empty in an inline keyboard button")
	}
	kinds := 0
	for _, set := range []bool{
		b.URL != "", b.CallbackData != "", b.WebApp != nil, b.LoginURL != nil, b.SwitchInlineQuery != nil,
		b.SwitchInlineQueryCurrentChat != nil, b.SwitchInlineQueryChosenChat != nil, b.CopyText != nil,
		b.CallbackGame != nil, b.Pay, b.Disabled != nil,
	} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return badRequest("text buttons are unallowed in the inline keyboard")
	case kinds > 1:
		return badRequest("inline keyboard button %q must have exactly one optional field", b.Text)
	case len(b.CallbackData) > 64:
		return badRequest("BUTTON_DATA_INVALID")
	}
	if b.URL != "" {
		if u, err := url.Parse(b.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "tg" || u.Host == "" {
			return badRequest("inline keyboard button URL '%s' is invalid: wrong HTTP URL", b.URL)
		}
	}
	return nil
}
