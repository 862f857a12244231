package discordtest

import "strconv"

// Permissions is a set of rights, with Discord's bits.
type Permissions uint64

// The rights that matter to this server.
const (
	Administrator         Permissions = 1 << 3
	ManageGuild           Permissions = 1 << 5
	ViewChannel           Permissions = 1 << 10
	SendMessages          Permissions = 1 << 11
	ManageMessages        Permissions = 1 << 13
	EmbedLinks            Permissions = 1 << 14
	AttachFiles           Permissions = 1 << 15
	ReadMessageHistory    Permissions = 1 << 16
	MentionEveryone       Permissions = 1 << 17
	UseCommands           Permissions = 1 << 31
	CreatePublicThreads   Permissions = 1 << 35
	SendMessagesInThreads Permissions = 1 << 38
)

const (
	everyoneMay = ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadMessageHistory | UseCommands | CreatePublicThreads | SendMessagesInThreads
	allRights   = Permissions(1<<53 - 1)
)

// has reports whether all of want are there.
func (p Permissions) has(want Permissions) bool { return p&want == want }

// String is the number as the API writes it.
func (p Permissions) String() string { return strconv.FormatUint(uint64(p), 10) }

// rights are the permissions of a person, or of the bot for nil, in a channel.
func (c *Channel) rights(u *User) Permissions {
	if c.guild == nil {
		return everyoneMay
	}
	if u == nil {
		return c.guild.botRights &^ c.deniedBot()
	}
	m := c.guild.members[u.id]
	if m == nil {
		return 0
	}
	rights := everyoneMay
	for _, r := range m.roles {
		rights |= r.permissions
	}
	if c.guild.owner == u || rights.has(Administrator) {
		return allRights
	}
	return rights
}

// deniedBot is what a channel, or the one its thread belongs to, takes from the bot.
func (c *Channel) deniedBot() Permissions {
	if c.parent != nil {
		return c.denied | c.parent.deniedBot()
	}
	return c.denied
}
