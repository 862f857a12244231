package discordtest

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
)

var userAgent = regexp.MustCompile(`^DiscordBot \([^,()]+, [^()]+\)`)

// allRoutes lists what the server imitates; the rest of the API answers 501 and fails the test.
func (s *Server) allRoutes() []route {
	const (
		commands = "/applications/{application_id}/commands"
		guild    = "/applications/{application_id}/guilds/{guild_id}/commands"
		messages = "/channels/{channel_id}/messages"
		hook     = "/webhooks/{webhook_id}/{webhook_token}"
	)
	known := []route{
		{method: "GET", template: "/gateway", open: true, handle: s.getGateway},
		{method: "GET", template: "/gateway/bot", handle: s.getGatewayBot},
		{method: "GET", template: "/users/@me", handle: func(*request) (any, *apiError) { return s.botUser(), nil }},
		{method: "GET", template: "/users/{user_id}", handle: s.getUser},
		{method: "POST", template: "/users/@me/channels", schema: "CreatePrivateChannelRequest", handle: s.createDM},
		{method: "GET", template: "/users/@me/guilds", handle: s.getMyGuilds},
		{method: "GET", template: "/applications/@me", handle: s.getApplication},
		{method: "PATCH", template: "/applications/@me", handle: s.editApplication},
		{method: "GET", template: "/applications/{application_id}/entitlements", handle: s.listEntitlements},
		{method: "POST", template: "/applications/{application_id}/entitlements/{entitlement_id}/consume", handle: s.consumeEntitlement},
		{method: "GET", template: "/skus/{sku_id}/subscriptions", handle: s.listSubscriptions},
		{method: "GET", template: "/oauth2/applications/@me", handle: s.getApplication},
		{method: "GET", template: "/guilds/{guild_id}", handle: s.getGuild},
		{method: "GET", template: "/guilds/{guild_id}/members/{user_id}", handle: s.getMember},
		{method: "GET", template: "/guilds/{guild_id}/roles", handle: s.getRoles},
		{method: "GET", template: "/guilds/{guild_id}/channels", handle: s.getGuildChannels},
		{method: "GET", template: "/channels/{channel_id}", handle: s.getChannel},
		{method: "POST", template: "/channels/{channel_id}/typing", handle: s.trigger},
		{method: "POST", template: messages, schema: "MessageCreateRequest", handle: s.createMessage},
		{method: "GET", template: messages, handle: s.listMessages},
		{method: "GET", template: messages + "/{message_id}", handle: s.getMessage},
		{method: "PATCH", template: messages + "/{message_id}", schema: "MessageEditRequestPartial", handle: s.editMessage},
		{method: "DELETE", template: messages + "/{message_id}", handle: s.deleteMessage},
		{method: "POST", template: messages + "/{message_id}/threads", schema: "CreateTextThreadWithMessageRequest", handle: s.startThread},
		{method: "POST", template: "/interactions/{interaction_id}/{interaction_token}/callback", open: true, handle: s.callback},
		{method: "POST", template: hook, open: true, schema: "IncomingWebhookRequestPartial", handle: s.followUp},
	}
	for _, id := range []string{"@original", "{message_id}"} {
		known = append(known,
			route{method: "GET", template: hook + "/messages/" + id, open: true, handle: s.getHookMessage},
			route{method: "PATCH", template: hook + "/messages/" + id, open: true, schema: "IncomingWebhookUpdateRequestPartial", handle: s.editHookMessage},
			route{method: "DELETE", template: hook + "/messages/" + id, open: true, handle: s.deleteHookMessage})
	}
	for _, list := range []string{commands, guild} {
		known = append(known,
			route{method: "GET", template: list, handle: s.listCommands},
			route{method: "PUT", template: list, handle: s.putCommands},
			route{method: "POST", template: list, schema: "ApplicationCommandCreateRequest", handle: s.postCommand},
			route{method: "GET", template: list + "/{command_id}", handle: s.getCommand},
			route{method: "PATCH", template: list + "/{command_id}", schema: "ApplicationCommandPatchRequestPartial", handle: s.patchCommand},
			route{method: "DELETE", template: list + "/{command_id}", handle: s.deleteCommand})
	}
	for i := range known {
		known[i].parts = segments(known[i].template)
	}
	return known
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	version, path, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/api/"), "/")
	path = "/" + path
	if version != "v9" && version != "v10" {
		s.note("API version %q of %s: only v9 and v10 are imitated", version, path)
		writeError(w, refuse(http.StatusBadRequest, 50041, "Invalid API version provided."))
		return
	}
	route, vars := s.find(r.Method, path)
	if route == nil {
		s.serveUnknown(w, r, path)
		return
	}
	req := &request{
		http: r, method: r.Method, route: route.template, vars: vars, query: r.URL.Query(), files: map[string]File{},
		used: map[string]bool{}, at: s.now(),
	}
	decoded := req.decode()
	if errors.Is(decoded, errCut) {
		panic(http.ErrAbortHandler) // such as a program that is stopped: it asked for nothing
	}
	fault := s.takeFault(req)
	if fault != nil && fault.before(s, w, r) {
		s.record(req, 0, &apiError{message: "fault: " + fault.String()})
		return
	}
	result, refused := s.execute(w, route, req, decoded)
	status := http.StatusOK
	switch {
	case refused != nil:
		status = refused.status
	case result == nil:
		status = http.StatusNoContent
	}
	s.record(req, status, refused)
	if fault != nil && fault.after(w) {
		return
	}
	if refused != nil {
		writeError(w, refused)
		return
	}
	writeJSON(w, status, result)
}

// serveUnknown answers paths that this server does not imitate, or that do not exist at all.
func (s *Server) serveUnknown(w http.ResponseWriter, r *http.Request, path string) {
	for _, operation := range s.table.Operations {
		method, template, _ := strings.Cut(operation, " ")
		known := route{method: method, parts: segments(template)}
		if method == r.Method && known.fits(segments(path)) {
			s.note("%s is not imitated by this server", operation)
			writeError(w, refuse(http.StatusNotImplemented, 0, operation+" is not imitated by the test server"))
			return
		}
	}
	s.note("unknown operation %s %s", r.Method, path)
	writeError(w, refuse(http.StatusNotFound, 0, "404: Not Found"))
}

// note is violation for those who do not hold the lock.
func (s *Server) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violation(format, args...)
}

// execute checks a request and runs its handler.
func (s *Server) execute(w http.ResponseWriter, route *route, req *request, decoded error) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused := s.admit(route, req); refused != nil {
		return nil, refused
	}
	if refused := s.limits.take(s, w, req); refused != nil {
		return nil, refused
	}
	refused := s.checkBody(route, req, decoded)
	var result any
	if refused == nil {
		result, refused = route.handle(req)
	}
	if refused != nil && refused.code == codeInvalidForm {
		s.violation("%s %s: %s", req.method, req.route, refused)
	}
	if refused == nil {
		for part := range req.files {
			if !req.used[part] {
				s.violation("%s %s: the uploaded part %q is not referred to", req.method, req.route, part)
			}
		}
	}
	return result, refused
}

// admit checks what every request must carry, whatever it asks for.
func (s *Server) admit(route *route, req *request) *apiError {
	if s.banned() {
		return refuse(http.StatusForbidden, codeCloudflare, "You have been banned from accessing Discord: too many invalid requests")
	}
	if agent := req.http.UserAgent(); !userAgent.MatchString(agent) {
		s.violation("%s %s: User-Agent %q is not of the form \"DiscordBot (url, version)\"", req.method, req.route, agent)
		return refuse(http.StatusForbidden, codeCloudflare, "internal network error")
	}
	auth := req.http.Header.Get("Authorization")
	if (auth != "" || !route.open) && (auth != "Bot "+s.Token || s.revoked) {
		return refuse(http.StatusUnauthorized, 0, "401: Unauthorized")
	}
	if id, ok := req.vars["application_id"]; ok && id != s.ApplicationID {
		return refuse(http.StatusForbidden, 20012, "You are not authorized to perform this action on this application")
	}
	return nil
}

// checkBody judges the form of the body, and its content where the route names a schema.
func (s *Server) checkBody(route *route, req *request, decoded error) *apiError {
	switch {
	case errors.Is(decoded, errTooLarge):
		return refuse(http.StatusRequestEntityTooLarge, codeTooLarge, "Request entity too large")
	case decoded != nil && strings.HasPrefix(decoded.Error(), "content type"):
		return invalid("_misc", "CONTENT_TYPE_INVALID", `Expected "Content-Type" header to be one of {"application/json", "application/x-www-form-urlencoded", "multipart/form-data"}, got %v.`, decoded)
	case decoded != nil:
		s.violation("%s %s: %v", req.method, req.route, decoded)
		return refuse(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	if route.schema == "" {
		return nil
	}
	if req.body == nil {
		return refuse(http.StatusBadRequest, codeEmptyMessage, "Cannot send an empty message")
	}
	return s.validate(req, route.schema, req.body, nil)
}

// validate checks a value against a schema of the table; at tells where in the body it is.
func (s *Server) validate(req *request, schema string, value any, at []string) *apiError {
	faults, err := s.validator.Validate(schema, value)
	if err != nil {
		s.t.Errorf("discordtest: %v", err)
	}
	kept := faults[:0]
	for _, f := range faults {
		f.Path = append(at[:len(at):len(at)], f.Path...)
		if f.Unknown {
			s.violation("%s %s: %s: %s", req.method, req.route, strings.Join(f.Path, "."), f.Text)
			continue
		}
		kept = append(kept, f)
	}
	if len(kept) > 0 {
		return invalidForm(kept)
	}
	return nil
}
