package discordtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The kinds of interactions.
const (
	KindPing         = 1
	KindCommand      = 2
	KindComponent    = 3
	KindAutocomplete = 4
	KindModal        = 5
)

// The types of answers to an interaction.
const (
	AnswerPong           = 1
	AnswerMessage        = 4
	AnswerDeferred       = 5
	AnswerDeferredUpdate = 6
	AnswerUpdate         = 7
	AnswerChoices        = 8
	AnswerModal          = 9
)

const (
	answerWithin = 3 * time.Second
	tokenLife    = 15 * time.Minute
	maxFollowUps = 5
)

// Interaction is something a person did that the bot has to answer.
type Interaction struct {
	ID      string
	Token   string
	Kind    int
	User    *User
	Channel *Channel

	s         *Server
	data      map[string]any
	on        *message     // the component's message, or the one whose button opened the modal
	opener    *Interaction // what a submitted form was the answer to
	at        time.Time
	answered  bool
	answer    Answer
	failure   string // why the delivery to an HTTP endpoint failed
	original  *message
	deferred  bool // the placeholder waits for the first follow-up or edit
	followups []*message
	choices   []Choice
	modal     *Modal
	answers   int
	attempts  int
}

// Answer is the first answer to an interaction.
type Answer struct {
	Type      int
	Ephemeral bool
	// After is how long it took on the server's clock.
	After time.Duration
}

// newInteraction files an interaction and sends it to the bot. It needs s.mu.
func (s *Server) newInteraction(kind int, u *User, c *Channel, data map[string]any, on *message) *Interaction {
	i := &Interaction{ID: s.newID(), Kind: kind, User: u, Channel: c, s: s, data: data, on: on, at: s.now()}
	i.Token = "aW50ZXJhY3Rpb246" + i.ID + strings.Repeat("x", 40)
	s.interactions[i.Token] = i
	s.deliver(i)
	return i
}

// owners tell who installed the app: the guild, and the person.
func (i *Interaction) owners() map[string]string {
	out := map[string]string{}
	if g := i.Channel.guild; g == nil {
		out["0"] = "0"
	} else if g.installed {
		out["0"] = g.id
	}
	if i.User.installed {
		out["1"] = i.User.id
	}
	return out
}

// metadata tells on a message which interaction it answers.
func (i *Interaction) metadata() map[string]any {
	w := map[string]any{"id": i.ID, "type": i.Kind, "user": i.User.wire(), "authorizing_integration_owners": i.owners()}
	switch {
	case i.Kind == KindComponent:
		w["interacted_message_id"] = i.on.id
	case i.Kind == KindModal:
		w["triggering_interaction_metadata"] = i.opener.metadata()
	}
	return w
}

// wire is the interaction as the bot receives it.
func (i *Interaction) wire() map[string]any {
	s, c := i.s, i.Channel
	w := map[string]any{
		"id": i.ID, "application_id": s.ApplicationID, "type": i.Kind, "token": i.Token, "version": 1, "channel_id": c.id, "data": i.data,
		"app_permissions": i.appPermissions().String(), "locale": i.User.locale, "entitlements": []any{}, "entitlement_sku_ids": []any{},
		"authorizing_integration_owners": i.owners(), "attachment_size_limit": c.uploadLimit(), "channel": c.wire(), "context": 1,
	}
	if g := c.guild; g != nil {
		member := g.memberWire(i.User)
		member["permissions"] = c.rights(i.User).String()
		w["member"], w["guild_id"], w["guild_locale"], w["context"] = member, g.id, g.locale, 0
		w["guild"] = map[string]any{"id": g.id, "locale": g.locale, "features": []any{}}
	} else {
		w["user"] = i.User.wire()
	}
	if i.on != nil {
		w["message"] = i.on.wire()
	}
	return w
}

// appPermissions are the bot's rights where the interaction happened; without the bot there, those of the
// answers alone.
func (i *Interaction) appPermissions() Permissions {
	if g := i.Channel.guild; g != nil && !g.installed {
		return EmbedLinks | AttachFiles | MentionEveryone
	}
	return i.Channel.rights(nil)
}

// expired reports whether the token is dead: unanswered for too long, or too old.
func (i *Interaction) expired() bool {
	age := i.s.now().Sub(i.at)
	return age > tokenLife || !i.answered && age > answerWithin
}

func (s *Server) callback(r *request) (any, *apiError) {
	i := s.interactions[r.vars["interaction_token"]]
	if i == nil || i.ID != r.vars["interaction_id"] || i.failure != "" {
		return nil, unknown(codeUnknownInteraction, "interaction")
	}
	i.attempts++
	switch {
	case i.answered:
		return nil, refuse(http.StatusBadRequest, codeAcknowledged, "Interaction has already been acknowledged.")
	case i.expired():
		return nil, unknown(codeUnknownInteraction, "interaction")
	}
	if refused := s.respond(r, i); refused != nil {
		return nil, refused
	}
	if r.query.Get("with_response") != "true" {
		return nil, nil
	}
	return i.callbackWire(), nil
}

// callbackWire is the answer to a callback that asked for one.
func (i *Interaction) callbackWire() map[string]any {
	about := map[string]any{"id": i.ID, "type": i.Kind}
	out := map[string]any{"interaction": about}
	if m := i.original; m != nil && i.answer.Type != AnswerDeferredUpdate {
		about["response_message_id"], about["response_message_loading"], about["response_message_ephemeral"] = m.id, m.loading(), m.ephemeral()
		kind := AnswerMessage
		if i.answer.Type == AnswerUpdate {
			kind = AnswerUpdate
		}
		out["resource"] = map[string]any{"type": kind, "message": m.wire()}
	}
	return out
}

// allowedAnswers are the answer types that a kind of interaction takes.
func (i *Interaction) allowedAnswers() []int {
	switch i.Kind {
	case KindCommand:
		return []int{AnswerMessage, AnswerDeferred, AnswerModal}
	case KindAutocomplete:
		return []int{AnswerChoices}
	case KindComponent:
		return []int{AnswerMessage, AnswerDeferred, AnswerDeferredUpdate, AnswerUpdate, AnswerModal}
	case KindModal:
		if i.on != nil {
			return []int{AnswerMessage, AnswerDeferred, AnswerDeferredUpdate, AnswerUpdate}
		}
		return []int{AnswerMessage, AnswerDeferred}
	}
	return []int{AnswerPong}
}

// respond takes the first answer.
func (s *Server) respond(r *request, i *Interaction) *apiError {
	kind := number(r.object()["type"])
	if !slices.Contains(i.allowedAnswers(), kind) {
		return invalid("type", "INTERACTION_CALLBACK_TYPE_INVALID", "an interaction of type %d takes the answers %v, got %d", i.Kind, i.allowedAnswers(), kind)
	}
	schema := map[int]string{
		AnswerMessage: "CreateMessageInteractionCallbackRequest", AnswerDeferred: "CreateMessageInteractionCallbackRequest",
		AnswerDeferredUpdate: "UpdateMessageInteractionCallbackRequest", AnswerUpdate: "UpdateMessageInteractionCallbackRequest",
		AnswerChoices: "ApplicationCommandAutocompleteCallbackRequest", AnswerModal: "ModalInteractionCallbackRequest",
	}[kind]
	if refused := s.validate(r, schema, r.body, nil); refused != nil {
		return refused
	}
	data, _ := r.object()["data"].(map[string]any)
	refused := map[int]func(*request, *Interaction, map[string]any) *apiError{
		AnswerMessage: s.answerMessage, AnswerDeferred: s.answerDeferred, AnswerDeferredUpdate: s.answerDeferredUpdate,
		AnswerUpdate: s.answerUpdate, AnswerChoices: s.answerChoices, AnswerModal: s.answerModal,
	}[kind](r, i, data)
	if refused != nil {
		return nested(refused)
	}
	i.answered, i.answers = true, i.answers+1
	i.answer = Answer{Type: kind, After: s.now().Sub(i.at), Ephemeral: i.original != nil && i.original.ephemeral()}
	s.signal()
	return nil
}

// nested moves a refusal's paths below "data".
func nested(e *apiError) *apiError {
	for n := range e.faults {
		e.faults[n].Path = append([]string{"data"}, e.faults[n].Path...)
	}
	return e
}

// answerFlags may be set on answers that are messages.
const answerFlags = flagSuppressEmbeds | flagEphemeral | flagSilent | flagComponentsV2

// reply makes an empty message of the interaction.
func (i *Interaction) reply(flags int) *message {
	m := &message{channel: i.Channel, origin: i, flags: flags}
	if flags&flagEphemeral != 0 {
		m.seenBy = i.User
	}
	return m
}

func (s *Server) answerMessage(r *request, i *Interaction, data map[string]any) *apiError {
	m := i.reply(number(data["flags"]) & flagEphemeral)
	if refused := s.apply(r, m, draft{body: data, may: answerFlags, fresh: true}); refused != nil {
		return refused
	}
	i.original = m
	s.post(m)
	return nil
}

func (s *Server) answerDeferred(r *request, i *Interaction, data map[string]any) *apiError {
	for name := range data {
		if name != "flags" {
			s.violation("%s %s: a deferred answer has no %s", r.method, r.route, name)
		}
	}
	flags := number(data["flags"])
	if odd := flags &^ flagEphemeral; odd != 0 {
		s.violation("%s %s: a deferred answer takes the flag EPHEMERAL only, got %d", r.method, r.route, flags)
	}
	i.original, i.deferred = i.reply(flags&flagEphemeral|flagLoading), true
	s.post(i.original)
	return nil
}

func (s *Server) answerDeferredUpdate(_ *request, i *Interaction, _ map[string]any) *apiError {
	i.original = i.on
	return nil
}

func (s *Server) answerUpdate(r *request, i *Interaction, data map[string]any) *apiError {
	if i.on.deleted {
		return unknown(codeUnknownMessage, "Message")
	}
	if refused := s.apply(r, i.on, draft{body: data, may: flagSuppressEmbeds | flagComponentsV2}); refused != nil {
		return refused
	}
	i.original = i.on
	s.touched(i.on)
	return nil
}

func (s *Server) answerChoices(_ *request, i *Interaction, data map[string]any) *apiError {
	choices, _ := data["choices"].([]any)
	i.choices = []Choice{}
	for n, v := range choices {
		c, _ := v.(map[string]any)
		if value, isText := c["value"].(string); isText && units(value) > maxChoice {
			return invalid(fmt.Sprintf("choices/%d/value", n), "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.")
		}
		i.choices = append(i.choices, Choice{Name: text(c["name"]), Value: c["value"]})
	}
	return nil
}

func (s *Server) answerModal(_ *request, i *Interaction, data map[string]any) *apiError {
	components, _ := data["components"].([]any)
	if len(components) > 5 {
		return invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	check := componentCheck{s: s, ids: map[string]bool{}, numbers: map[int]bool{}}
	for n, v := range components {
		o, _ := v.(map[string]any)
		if refused := check.component(fmt.Sprintf("components/%d", n), o); refused != nil {
			return refused
		}
		if refused := checkInput(fmt.Sprintf("components/%d", n), o); refused != nil {
			return refused
		}
	}
	i.modal = newModal(i, data)
	return nil
}

// checkInput checks the label of a text input, and that a given value fits its bounds.
func checkInput(at string, o map[string]any) *apiError {
	var refused *apiError
	row := number(o["type"]) == typeRow
	walk([]any{o}, func(inner map[string]any) {
		if number(inner["type"]) != typeInput {
			return
		}
		low, high, n := bound(inner, "min_length", 0), bound(inner, "max_length", 4000), units(text(inner["value"]))
		switch {
		case row && text(inner["label"]) == "":
			refused = invalid(at+"/components/0/label", "BASE_TYPE_REQUIRED", "This field is required")
		case !row && inner["label"] != nil:
			refused = invalid(at+"/component/label", "TEXT_INPUT_LABEL_IN_LABEL", "A text input inside a label has no label of its own")
		case low > high:
			refused = invalid(at, "TEXT_INPUT_MIN_OVER_MAX", "min_length %d is over max_length %d", low, high)
		case n > high:
			refused = invalid(at, "BASE_TYPE_MAX_LENGTH", "The value has %d characters, at most %d are allowed", n, high)
		}
	})
	return refused
}

// hook finds the interaction behind a webhook token.
func (s *Server) hook(r *request) (*Interaction, *apiError) {
	i := s.interactions[r.vars["webhook_token"]]
	switch {
	case r.vars["webhook_id"] != s.ApplicationID, i == nil:
		return nil, unknown(codeUnknownWebhook, "Webhook")
	case i.failure != "", i.expired():
		return nil, refuse(http.StatusUnauthorized, codeInvalidToken, "Invalid Webhook Token")
	case !i.answered:
		return nil, unknown(codeUnknownWebhook, "Webhook")
	}
	return i, nil
}

func (s *Server) followUp(r *request) (any, *apiError) {
	i, refused := s.hook(r)
	if refused != nil {
		return nil, refused
	}
	if i.answer.Type == AnswerModal || i.Kind == KindAutocomplete {
		return nil, unknown(codeUnknownWebhook, "Webhook")
	}
	if i.deferred {
		return s.fillPlaceholder(r, i)
	}
	if g := i.Channel.guild; g != nil && !g.installed && len(i.followups) >= maxFollowUps {
		return nil, refuse(http.StatusBadRequest, codeFollowups, "Maximum number of follow up messages reached for this interaction")
	}
	body := r.object()
	m := i.reply(number(body["flags"]) & flagEphemeral)
	if refused := s.apply(r, m, draft{body: body, may: answerFlags, fresh: true}); refused != nil {
		return nil, refused
	}
	i.followups = append(i.followups, m)
	i.answers++
	s.post(m)
	return m.wire(), nil
}

// fillPlaceholder turns the first follow-up after a deferred answer into its edit.
func (s *Server) fillPlaceholder(r *request, i *Interaction) (any, *apiError) {
	body := maps.Clone(r.object())
	if flags := number(body["flags"]); flags&flagEphemeral != 0 {
		if !i.original.ephemeral() {
			s.violation("%s %s: the first follow-up edits the public placeholder, EPHEMERAL has no effect", r.method, r.route)
		}
		body["flags"] = flags &^ flagEphemeral
	}
	if refused := s.apply(r, i.original, draft{body: body, may: answerFlags, fresh: true}); refused != nil {
		return nil, refused
	}
	i.filled()
	return i.original.wire(), nil
}

// filled ends the placeholder.
func (i *Interaction) filled() {
	i.deferred = false
	i.original.flags &^= flagLoading
	i.answers++
	i.s.touched(i.original)
}

// hookMessage finds a message of an interaction.
func (s *Server) hookMessage(r *request) (*Interaction, *message, *apiError) {
	i, refused := s.hook(r)
	if refused != nil {
		return nil, nil, refused
	}
	id, byID := r.vars["message_id"]
	if !byID && i.original != nil && !i.original.deleted {
		return i, i.original, nil
	}
	for _, m := range append(slices.Clone(i.followups), i.original) {
		if byID && m != nil && m.id == id && !m.deleted {
			return i, m, nil
		}
	}
	return nil, nil, unknown(codeUnknownMessage, "Message")
}

func (s *Server) getHookMessage(r *request) (any, *apiError) {
	_, m, refused := s.hookMessage(r)
	if refused != nil {
		return nil, refused
	}
	return m.wire(), nil
}

func (s *Server) editHookMessage(r *request) (any, *apiError) {
	i, m, refused := s.hookMessage(r)
	if refused != nil {
		return nil, refused
	}
	if m == i.original && i.deferred {
		if refused := s.apply(r, m, draft{body: r.object(), may: flagSuppressEmbeds | flagComponentsV2, fresh: true}); refused != nil {
			return nil, refused
		}
		i.filled()
		return m.wire(), nil
	}
	return s.change(r, m, flagSuppressEmbeds|flagComponentsV2)
}

func (s *Server) deleteHookMessage(r *request) (any, *apiError) {
	i, m, refused := s.hookMessage(r)
	if refused != nil {
		return nil, refused
	}
	if m == i.original {
		i.deferred = false
	}
	s.remove(m)
	return nil, nil
}
