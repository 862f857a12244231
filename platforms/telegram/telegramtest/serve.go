package telegramtest

import (
	"errors"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/platforms/telegram/telegramtest/apitable"
)

// ServeHTTP answers /bot<token>/<method> and /file/bot<token>/<path>.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, isFile := strings.CutPrefix(r.URL.Path, "/file")
	token, rest, found := strings.Cut(strings.TrimPrefix(path, "/bot"), "/")
	if !found || !strings.HasPrefix(path, "/bot") {
		writeError(w, &apiError{code: 404, description: "Not Found"})
		return
	}
	s.mu.Lock()
	wrong := token != s.Token || s.revoked
	s.mu.Unlock()
	if wrong {
		writeError(w, &apiError{code: 401, description: "Unauthorized"})
		return
	}
	if isFile {
		s.serveFile(w, rest)
		return
	}
	s.serveMethod(w, r, rest)
}

func (s *Server) serveMethod(w http.ResponseWriter, r *http.Request, name string) {
	req, err := decodeRequest(r)
	if errors.Is(err, errTooLarge) {
		writeError(w, &apiError{code: 413, description: "Request Entity Too Large"})
		return
	}
	if err != nil {
		writeError(w, badRequest("can't read the request: %v", err))
		return
	}
	req.at = s.now()
	method, fields, known := s.table.Method(name)
	if !known {
		s.violation("unknown method %q", name)
		writeError(w, &apiError{code: 404, description: "Not Found: method not found"})
		return
	}
	req.method = method
	fault := s.takeFault(req)
	if fault != nil && fault.before(s, w, r) {
		s.record(req, &apiError{description: "fault: " + fault.String()})
		return
	}
	result, refused := s.execute(r, req, fields)
	s.record(req, refused)
	if fault != nil && fault.after(w) {
		return
	}
	if refused != nil {
		writeError(w, refused)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"ok": true, "result": result})
}

// execute checks the request against the table and runs its handler.
func (s *Server) execute(r *http.Request, req *request, fields apitable.Fields) (any, *apiError) {
	check := &checker{table: s.table}
	refused := check.request(req.method, fields, req)
	for _, text := range check.unknown {
		s.violation("%s", text)
	}
	if refused != nil {
		return nil, refused
	}
	if req.method == "getUpdates" {
		return s.getUpdates(r.Context(), req)
	}
	handle, ok := s.handlers[req.method]
	if !ok {
		s.violation("%s is not imitated by this server", req.method)
		return nil, &apiError{code: 501, description: "Not Implemented: " + req.method + " is not imitated by the test server"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.throttle(req); err != nil {
		return nil, err
	}
	result, refused := handle(req)
	if refused == nil {
		for part := range req.files {
			if !req.used[part] {
				s.violation("%s: uploaded part %q is not referred to", req.method, part)
			}
		}
	}
	return result, refused
}

func (s *Server) methods() map[string]handler {
	m := map[string]handler{
		"getMe":       func(*request) (any, *apiError) { return s.me(), nil },
		"getFile":     s.getFile,
		"sendMessage": s.sendMessage, "sendMediaGroup": s.sendMediaGroup,
		"editMessageText": s.editMessageText, "editMessageCaption": s.editMessageCaption,
		"editMessageMedia": s.editMessageMedia, "editMessageReplyMarkup": s.editMessageReplyMarkup,
		"deleteMessage": s.deleteMessage, "deleteMessages": s.deleteMessages,
		"sendChatAction": s.sendChatAction, "setMessageReaction": s.setMessageReaction,
		"answerCallbackQuery": s.answerCallbackQuery, "answerInlineQuery": s.answerInlineQuery,
		"setMyCommands": s.setMyCommands, "getMyCommands": s.getMyCommands, "deleteMyCommands": s.deleteMyCommands,
		"setWebhook": s.setWebhook, "deleteWebhook": s.deleteWebhook, "getWebhookInfo": s.getWebhookInfo,
		"getChat": s.getChat, "getChatMember": s.getChatMember, "leaveChat": s.leaveChat,
		"createInvoiceLink": s.createInvoiceLink, "answerPreCheckoutQuery": s.answerPreCheckout, "refundStarPayment": s.refundStars, "editUserStarSubscription": s.editSubscription,
		"setChatMenuButton": s.setChatMenuButton,
	}
	for _, kind := range []string{"photo", "video", "animation", "audio", "voice", "document"} {
		m["send"+title(kind)] = s.sendMedia(kind)
	}
	for method, field := range map[string]string{
		"MyName": "name", "MyDescription": "description", "MyShortDescription": "short_description",
	} {
		m["set"+method] = func(req *request) (any, *apiError) {
			s.texts[field+"/"+req.params["language_code"]] = req.params[field]
			return true, nil
		}
		m["get"+method] = func(req *request) (any, *apiError) {
			return map[string]string{field: s.texts[field+"/"+req.params["language_code"]]}, nil
		}
	}
	return m
}
