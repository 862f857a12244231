package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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

// askAdmin reports whether a person runs a guild.
func (a *Adapter) askAdmin(ctx context.Context, key adminKey) (bool, error) {
	rights, err := a.rights(ctx, key)
	return rights&(discordgo.PermissionManageGuild|discordgo.PermissionAdministrator) != 0, err
}

// unknownMember is Discord's code of a person who is not in a guild.
const unknownMember = 10007

// Member asks Discord whether a person is in the guild of a channel, and whether they run it or may delete what others wrote. What a channel grants
// beside the guild's roles is not looked at.
func (a *Adapter) Member(ctx context.Context, channel, user string) (in, runs bool, err error) {
	var there struct {
		Guild string `json:"guild_id"`
	}
	if !isID(channel) || !isID(user) {
		return false, false, fmt.Errorf("discord: %q and %q are no ids of a channel and a person", channel, user)
	}
	err = a.client.do(ctx, call{method: http.MethodGet, path: "/channels/" + channel, route: "/channels/{}", resource: channel, repeatable: true}, &there)
	if err != nil || there.Guild == "" {
		return false, false, contract(cmp.Or(err, errors.New("discord: the channel is in no guild")))
	}
	rights, err := a.rights(ctx, adminKey{there.Guild, user})
	var refused *Error
	if errors.As(err, &refused) && refused.Code == unknownMember {
		return false, false, nil
	}
	if err != nil {
		return false, false, contract(err)
	}
	return true, rights&(discordgo.PermissionManageMessages|discordgo.PermissionManageGuild|discordgo.PermissionAdministrator) != 0, nil
}

// rights asks Discord for a person's rights in a guild: those of the owner are all.
func (a *Adapter) rights(ctx context.Context, key adminKey) (rights int64, err error) {
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
		return 0, err
	}
	if guild.Owner == key.user {
		return math.MaxInt64, nil
	}
	err = a.client.do(ctx, call{
		method: http.MethodGet, path: path + "/members/" + key.user, route: "/guilds/{}/members/{}", resource: key.guild, repeatable: true,
	}, &m)
	if err != nil {
		return 0, err
	}
	for _, role := range guild.Roles {
		if role.ID == key.guild || slices.Contains(m.Roles, role.ID) { // the first is everybody's
			own, _ := strconv.ParseInt(role.Permissions, 10, 64)
			rights |= own
		}
	}
	return rights, nil
}
