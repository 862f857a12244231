package discordtest

import (
	"maps"
	"slices"
	"strings"
)

// username is the person's name as the API writes it.
func (u *User) username() string {
	return strings.ToLower(strings.ReplaceAll(u.name, " ", "_"))
}

func (u *User) wire() map[string]any {
	return map[string]any{
		"id": u.id, "username": u.username(), "global_name": u.name, "discriminator": "0", "avatar": u.avatarWire(), "bot": false, "public_flags": 0,
		"flags": 0, "primary_guild": nil,
	}
}

func (s *Server) botUser() map[string]any {
	return map[string]any{
		"id": s.BotID(), "username": "signalbox", "global_name": nil, "discriminator": "0001", "avatar": nil, "bot": true,
		"public_flags": 0, "flags": 0, "verified": true, "mfa_enabled": false, "locale": "en-US", "email": nil, "primary_guild": nil,
	}
}

func (g *Guild) memberWire(u *User) map[string]any {
	roles := []string{}
	if m := g.members[u.id]; m != nil {
		for _, r := range m.roles {
			roles = append(roles, r.id)
		}
	}
	return map[string]any{
		"user": u.wire(), "nick": nil, "avatar": nil, "banner": nil, "roles": roles, "joined_at": iso(timeOf(g.id)), "premium_since": nil,
		"deaf": false, "mute": false, "flags": 0, "pending": false, "communication_disabled_until": nil,
	}
}

func (r *Role) wire() map[string]any {
	return map[string]any{
		"id": r.id, "name": r.name, "color": 0, "hoist": false, "position": 1, "permissions": r.permissions.String(),
		"managed": false, "mentionable": false, "flags": 0, "icon": nil, "unicode_emoji": nil,
		"colors": map[string]any{"primary_color": 0, "secondary_color": nil, "tertiary_color": nil},
	}
}

// wire is the channel as the API shows it.
func (c *Channel) wire() map[string]any {
	w := map[string]any{"id": c.id, "type": c.kind(), "last_message_id": nil, "flags": 0}
	if n := len(c.messages); n > 0 {
		w["last_message_id"] = c.messages[n-1].id
	}
	switch {
	case c.guild == nil:
		w["recipients"] = []any{c.user.wire()}
		return w
	case c.parent != nil:
		w["parent_id"] = c.parent.id
		w["thread_metadata"] = map[string]any{"archived": c.archived, "locked": c.locked, "auto_archive_duration": 1440, "archive_timestamp": iso(timeOf(c.id))}
	}
	w["guild_id"], w["name"], w["nsfw"], w["position"] = c.guild.id, c.name, c.isAdult(), 0
	w["permission_overwrites"], w["rate_limit_per_user"], w["topic"] = []any{}, 0, nil
	return w
}

// kind is the channel's type number: text, direct messages or public thread.
func (c *Channel) kind() int {
	switch {
	case c.guild == nil:
		return 1
	case c.parent != nil:
		return 11
	}
	return 0
}

func (g *Guild) wire() map[string]any {
	roles := []any{(&Role{id: g.id, name: "@everyone", permissions: everyoneMay}).wire()}
	for _, r := range g.roles {
		roles = append(roles, r.wire())
	}
	w := map[string]any{
		"id": g.id, "name": g.name, "preferred_locale": g.locale, "roles": roles, "emojis": []any{}, "stickers": []any{},
		"features": []any{}, "icon": nil, "verification_level": 0, "premium_tier": 0, "nsfw_level": 0, "afk_timeout": 300,
		"default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0, "system_channel_flags": 0,
		"region": "deprecated", "widget_enabled": false, "max_members": 500_000, "max_stage_video_channel_users": 50,
		"max_video_channel_users": 25, "premium_subscription_count": 0, "premium_progress_bar_enabled": false, "nsfw": false,
	}
	for _, absent := range []string{
		"description", "home_header", "splash", "discovery_splash", "banner", "application_id", "afk_channel_id", "system_channel_id",
		"widget_channel_id", "max_presences", "vanity_url_code", "rules_channel_id", "safety_alerts_channel_id",
		"public_updates_channel_id", "incidents_data",
	} {
		w[absent] = nil
	}
	if g.owner != nil {
		w["owner_id"] = g.owner.id
	}
	return w
}

// guildEvent is the guild as GUILD_CREATE shows it: with its channels, and of its members only the bot.
func (s *Server) guildEvent(g *Guild) map[string]any {
	w := g.wire()
	channels, threads := []any{}, []any{}
	for _, c := range g.channels {
		if c.parent != nil {
			threads = append(threads, c.wire())
		} else if !c.deleted {
			channels = append(channels, c.wire())
		}
	}
	maps.Copy(w, map[string]any{
		"channels": channels, "threads": threads, "members": []any{s.botMember(g)}, "member_count": len(g.members) + 1,
		"large": false, "unavailable": false, "joined_at": iso(timeOf(g.id)), "voice_states": []any{}, "presences": []any{},
		"stage_instances": []any{}, "guild_scheduled_events": []any{}, "soundboard_sounds": []any{},
	})
	return w
}

func (s *Server) botMember(g *Guild) map[string]any {
	return map[string]any{"user": s.botUser(), "roles": []any{}, "joined_at": iso(timeOf(g.id)), "deaf": false, "mute": false, "flags": 0}
}

// installedGuilds are those with the bot, oldest first.
func (s *Server) installedGuilds() []*Guild {
	var out []*Guild
	for _, id := range slices.Sorted(maps.Keys(s.guilds)) {
		if s.guilds[id].installed {
			out = append(out, s.guilds[id])
		}
	}
	return out
}

func (s *Server) getUser(r *request) (any, *apiError) {
	if id := r.vars["user_id"]; s.users[id] != nil {
		return s.users[id].wire(), nil
	} else if id == s.BotID() {
		return s.botUser(), nil
	}
	return nil, unknown(codeUnknownUser, "User")
}

func (s *Server) getApplication(*request) (any, *apiError) {
	var url any
	if s.endpoint != "" {
		url = s.endpoint
	}
	return map[string]any{
		"id": s.ApplicationID, "name": "Signalbox", "icon": nil, "description": s.description, "bot_public": true, "bot_require_code_grant": false,
		"verify_key": s.PublicKey, "flags": 0, "bot": s.botUser(), "interactions_endpoint_url": url, "summary": "",
		"approximate_guild_count": len(s.installedGuilds()), "approximate_user_install_count": 0, "approximate_user_authorization_count": 0,
		"type": nil, "flags_new": "0", "redirect_uris": []any{}, "role_connections_verification_url": nil, "owner": s.botUser(),
		"explicit_content_filter": 0, "team": nil, "eligible_oauth2_scopes": []any{},
	}, nil
}

// editApplication changes the description, the one member that bots here change.
func (s *Server) editApplication(req *request) (any, *apiError) {
	body, _ := req.body.(map[string]any)
	text, ok := body["description"].(string)
	if !ok || len(body) != 1 || len([]rune(text)) > 400 {
		return nil, invalid("description", "BASE_TYPE_MAX_LENGTH", "Must be 400 or fewer in length.")
	}
	s.description = text
	return s.getApplication(req)
}

// Description is what the bot's profile says.
func (s *Server) Description() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.description
}

func (s *Server) getMyGuilds(*request) (any, *apiError) {
	out := []any{}
	for _, g := range s.installedGuilds() {
		out = append(out, map[string]any{"id": g.id, "name": g.name, "icon": nil, "banner": nil, "owner": false, "permissions": g.botRights.String(), "features": []any{}})
	}
	return out, nil
}

// ownGuild finds a guild that the bot is in.
func (s *Server) ownGuild(r *request) (*Guild, *apiError) {
	g := s.guilds[r.vars["guild_id"]]
	switch {
	case g == nil:
		return nil, unknown(codeUnknownGuild, "Guild")
	case !g.installed:
		return nil, refuse(403, codeNoAccess, "Missing Access")
	}
	return g, nil
}

func (s *Server) getGuild(r *request) (any, *apiError) {
	g, refused := s.ownGuild(r)
	if refused != nil {
		return nil, refused
	}
	return g.wire(), nil
}

func (s *Server) getRoles(r *request) (any, *apiError) {
	g, refused := s.ownGuild(r)
	if refused != nil {
		return nil, refused
	}
	return g.wire()["roles"], nil
}

func (s *Server) getGuildChannels(r *request) (any, *apiError) {
	g, refused := s.ownGuild(r)
	if refused != nil {
		return nil, refused
	}
	return s.guildEvent(g)["channels"], nil
}

func (s *Server) getMember(r *request) (any, *apiError) {
	g, refused := s.ownGuild(r)
	if refused != nil {
		return nil, refused
	}
	id := r.vars["user_id"]
	if id == s.BotID() {
		return s.botMember(g), nil
	}
	if g.members[id] == nil {
		return nil, unknown(10007, "Member")
	}
	return g.memberWire(s.users[id]), nil
}

func (s *Server) getChannel(r *request) (any, *apiError) {
	c, refused := s.visible(r.vars["channel_id"])
	if refused != nil {
		return nil, refused
	}
	return c.wire(), nil
}

func (s *Server) trigger(r *request) (any, *apiError) {
	c, refused := s.writable(r.vars["channel_id"])
	if refused != nil {
		return nil, refused
	}
	c.typing++
	s.signal()
	return nil, nil
}

func (s *Server) createDM(r *request) (any, *apiError) {
	id, _ := r.object()["recipient_id"].(string)
	u := s.users[id]
	if u == nil {
		return nil, invalid("recipient_id", "INVALID_RECIPIENT", "no such user: %q", id)
	}
	return s.dmOf(u).wire(), nil
}

// visible finds a channel that the bot can see.
func (s *Server) visible(id string) (*Channel, *apiError) {
	c := s.channels[id]
	switch {
	case c == nil || c.deleted:
		return nil, unknown(codeUnknownChannel, "Channel")
	case !c.rights(nil).has(ViewChannel):
		return nil, refuse(403, codeNoAccess, "Missing Access")
	}
	return c, nil
}

// writable finds a channel that the bot can write to.
func (s *Server) writable(id string) (*Channel, *apiError) {
	c, refused := s.visible(id)
	if refused != nil {
		return nil, refused
	}
	need := SendMessages
	if c.parent != nil {
		need = SendMessagesInThreads
	}
	switch {
	case c.user != nil && !s.mutual(c.user):
		return nil, refuse(403, codeNoMutualGuilds, "Cannot send messages to this user due to having no mutual guilds")
	case c.user != nil && c.user.refusesDM:
		return nil, refuse(403, codeNoDM, "Cannot send messages to this user")
	case !c.rights(nil).has(need):
		return nil, refuse(403, codeMissingPermissions, "Missing Permissions")
	case c.locked:
		return nil, refuse(400, codeThreadLocked, "Thread is locked")
	}
	return c, nil
}

// mutual reports whether the person shares a guild with the bot or has installed the app.
func (s *Server) mutual(u *User) bool {
	for _, g := range s.guilds {
		if g.installed && g.members[u.id] != nil {
			return true
		}
	}
	return u.installed
}
