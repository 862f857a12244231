package discord

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/platforms/chat"
)

// adminsRemembered is how long is believed what Discord said of a person's rights in a guild: whoever lost them must not spend what it has.
const adminsRemembered = 5 * time.Second

// adminKey is a person in a guild.
type adminKey struct{ guild, user string }

// IsAdmin reports whether the sender of an update may delete what others wrote, or runs the guild. Interactions tell;
// for messages Discord is asked, and believed for seconds.
func (a *Adapter) IsAdmin(ctx context.Context, in chat.Incoming) (bool, error) {
	switch {
	case in.Admin || in.Press != nil && in.Press.Handle == managesMessages:
		return true, nil
	case in.Chat.Space == "" || in.Press != nil || !isID(in.Message.ID):
		return false, nil
	}
	key := adminKey{in.Chat.Space, in.From.ExternalID}
	if runs, known := a.admins.Get(key); known {
		return runs, nil
	}
	runs, err := a.askAdmin(ctx, key)
	if err != nil {
		return false, contract(err)
	}
	a.admins.Set(key, runs)
	return runs, nil
}

// askAdmin asks Discord for a person's rights in a guild: those of the owner are all.
func (a *Adapter) askAdmin(ctx context.Context, key adminKey) (bool, error) {
	var guild struct {
		Owner string `json:"owner_id"`
		Roles []struct {
			ID          string `json:"id"`
			Permissions string `json:"permissions"`
		} `json:"roles"`
	}
	var m member
	path := "/guilds/" + key.guild
	if err := a.client.do(ctx, call{method: http.MethodGet, path: path, route: "/guilds/{}", resource: key.guild, repeatable: true}, &guild); err != nil {
		return false, err
	}
	if guild.Owner == key.user {
		return true, nil
	}
	err := a.client.do(ctx, call{
		method: http.MethodGet, path: path + "/members/" + key.user, route: "/guilds/{}/members/{}", resource: key.guild, repeatable: true,
	}, &m)
	if err != nil {
		return false, err
	}
	var rights int64
	for _, role := range guild.Roles {
		if role.ID == key.guild || slices.Contains(m.Roles, role.ID) { // the first is everybody's
			own, _ := strconv.ParseInt(role.Permissions, 10, 64)
			rights |= own
		}
	}
	return rights&(discordgo.PermissionManageGuild|discordgo.PermissionAdministrator) != 0, nil
}
