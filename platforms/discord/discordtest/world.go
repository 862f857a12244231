package discordtest

import (
	"slices"
	"strings"
)

// User is a person of the test.
type User struct {
	s         *Server
	id        string
	name      string
	locale    string
	dm        *Channel
	refusesDM bool
	installed bool // the app, for herself
	picture   []byte
}

// Guild is a server with its members and channels.
type Guild struct {
	s           *Server
	id          string
	name        string
	locale      string
	owner       *User
	members     map[string]*member
	roles       []*Role
	channels    []*Channel
	installed   bool
	botRights   Permissions
	uploadLimit int
}

type member struct {
	user  *User
	roles []*Role
}

// Role is a role of a guild.
type Role struct {
	id          string
	name        string
	permissions Permissions
}

// ID is the role's id.
func (r *Role) ID() string { return r.id }

// Channel is a text channel, a thread or the direct messages of a person with the bot.
type Channel struct {
	s        *Server
	id       string
	name     string
	guild    *Guild   // nil for direct messages
	parent   *Channel // of a thread
	user     *User    // whose direct messages these are
	adult    bool
	denied   Permissions
	archived bool
	locked   bool
	deleted  bool
	messages []*message
	typing   int
}

const defaultUploadLimit = 10 << 20

// User makes a person.
func (s *Server) User(name string) *User {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &User{s: s, id: s.newID(), name: name, locale: "en-US"}
	s.users[u.id] = u
	return u
}

// ID is the person's id.
func (u *User) ID() string { return u.id }

// Name is the person's name.
func (u *User) Name() string { return u.name }

// Speaks sets the language of the person's client, such as "de" or "pt-BR".
func (u *User) Speaks(locale string) *User {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	u.locale = locale
	return u
}

// RefuseDMs makes direct messages to the person fail, as her privacy settings do.
func (u *User) RefuseDMs() {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	u.refusesDM = true
}

// Install installs the application for the person herself: its commands follow her everywhere.
func (u *User) Install() *User {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	u.installed = true
	return u
}

// DM is the channel of direct messages between the person and the bot.
func (u *User) DM() *Channel {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	return u.s.dmOf(u)
}

func (s *Server) dmOf(u *User) *Channel {
	if u.dm == nil {
		u.dm = &Channel{s: s, id: s.newID(), user: u}
		s.channels[u.dm.id] = u.dm
	}
	return u.dm
}

// Guild makes a guild that has installed the bot; the first member owns it.
func (s *Server) Guild(name string, members ...*User) *Guild {
	g := s.guild(name, members)
	s.mu.Lock()
	defer s.mu.Unlock()
	g.installed, g.botRights = true, everyoneMay
	s.gateway.toGuild(s, g, "GUILD_CREATE", intentGuilds, s.guildEvent(g))
	return g
}

// ForeignGuild makes a guild without the bot, whose first member has installed the app for herself.
func (s *Server) ForeignGuild(name string, members ...*User) *Guild {
	g := s.guild(name, members)
	if len(members) > 0 {
		members[0].Install()
	}
	return g
}

func (s *Server) guild(name string, members []*User) *Guild {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &Guild{s: s, id: s.newID(), name: name, locale: "en-US", members: map[string]*member{}, uploadLimit: defaultUploadLimit}
	for _, u := range members {
		g.members[u.id] = &member{user: u}
	}
	if len(members) > 0 {
		g.owner = members[0]
	}
	s.guilds[g.id] = g
	return g
}

// ID is the guild's id.
func (g *Guild) ID() string { return g.id }

// Text adds a text channel.
func (g *Guild) Text(name string) *Channel { return g.channel(&Channel{name: name}) }

// AgeRestricted adds a text channel for adults.
func (g *Guild) AgeRestricted(name string) *Channel {
	return g.channel(&Channel{name: name, adult: true})
}

func (g *Guild) channel(c *Channel) *Channel {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	c.s, c.guild, c.id = g.s, g, g.s.newID()
	g.channels = append(g.channels, c)
	g.s.channels[c.id] = c
	event := "CHANNEL_CREATE"
	if c.parent != nil {
		event = "THREAD_CREATE"
	}
	g.s.gateway.toGuild(g.s, g, event, intentGuilds, c.wire())
	return c
}

// Locale sets the guild's language.
func (g *Guild) Locale(locale string) *Guild {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.locale = locale
	return g
}

// SetUploadLimit sets how large a file may be, in bytes, as boosts do.
func (g *Guild) SetUploadLimit(bytes int) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.uploadLimit = bytes
}

// Add makes a person a member.
func (g *Guild) Add(u *User) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.members[u.id] = &member{user: u}
	event := g.memberWire(u)
	event["guild_id"] = g.id
	g.s.gateway.toGuild(g.s, g, "GUILD_MEMBER_ADD", intentMembers, event)
}

// Remove ends a person's membership.
func (g *Guild) Remove(u *User) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	delete(g.members, u.id)
	g.s.gateway.toGuild(g.s, g, "GUILD_MEMBER_REMOVE", intentMembers, map[string]any{"guild_id": g.id, "user": u.wire()})
}

// Role adds a role.
func (g *Guild) Role(name string, p Permissions) *Role {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	r := &Role{id: g.s.newID(), name: name, permissions: p}
	g.roles = append(g.roles, r)
	return r
}

// Give gives a member a role.
func (g *Guild) Give(u *User, r *Role) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if m := g.members[u.id]; m != nil && !slices.Contains(m.roles, r) {
		m.roles = append(m.roles, r)
	}
}

// Kick removes the bot from the guild.
func (g *Guild) Kick() {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.s.gateway.toGuild(g.s, g, "GUILD_DELETE", intentGuilds, map[string]any{"id": g.id})
	g.installed, g.botRights = false, 0
}

// ID is the channel's id.
func (c *Channel) ID() string { return c.id }

// Guild is the channel's guild, nil for direct messages.
func (c *Channel) Guild() *Guild { return c.guild }

// Thread adds a thread to a text channel.
func (c *Channel) Thread(name string) *Channel {
	return c.guild.channel(&Channel{name: name, parent: c})
}

// DenyBot takes rights from the bot in this channel and its threads.
func (c *Channel) DenyBot(p Permissions) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.denied |= p
}

// Archive closes a thread; a locked one stays closed to everybody without special rights.
func (c *Channel) Archive(locked bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.archived, c.locked = true, locked
}

// Delete removes the channel with its messages.
func (c *Channel) Delete() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.deleted = true
	for _, m := range c.messages {
		m.deleted = true
	}
	c.s.signal()
	if c.guild != nil {
		c.s.gateway.toGuild(c.s, c.guild, "CHANNEL_DELETE", intentGuilds, c.wire())
	}
}

// String names the channel for failure reports.
func (c *Channel) String() string {
	if c.guild == nil {
		return "DM with " + c.user.name
	}
	names := []string{c.guild.name}
	if c.parent != nil {
		names = append(names, "#"+c.parent.name)
	}
	return strings.Join(append(names, "#"+c.name), " ")
}

// isAdult reports whether the channel is for adults; threads follow their channel.
func (c *Channel) isAdult() bool { return c.adult || c.parent != nil && c.parent.adult }

// uploadLimit is how large a file in this channel may be.
func (c *Channel) uploadLimit() int {
	if c.guild == nil {
		return defaultUploadLimit
	}
	return c.guild.uploadLimit
}
