// Package sitedesk lets chats work on sites: it calls the tools of sites for what chats ask for.
package sitedesk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Desk is the sites for chats. All members are required.
type Desk struct {
	Tools *content.Provider
	Store *store.Store
	Media registry.MediaOpener
	// Start is the address of the start of the site with a slug.
	Start func(slug string) string
}

var _ turn.Site = Desk{}

// group is a chat as sites know it.
func group(place users.Place) store.Group {
	return store.Group{Platform: place.Platform, Place: string(place.Kind) + ":" + place.ID}
}

// outward is a slug as chats know it: for them the house's site has none.
func outward(slug string) string {
	if slug == store.House {
		return ""
	}
	return slug
}

// inward is what outward was made of.
func inward(slug string) string {
	if slug == "" {
		return store.House
	}
	return slug
}

// Enter finds the site of the group, or else the house's, and takes note of what the chat says of who is there.
func (d Desk) Enter(ctx context.Context, v turn.SiteVisit) (turn.SiteHere, error) {
	site, err := d.find(ctx, v)
	if err != nil {
		return turn.SiteHere{}, err
	}
	if site.Grouped {
		if err := d.Store.SeenIn(ctx, site, v.Account, v.Runs(ctx)); err != nil {
			return turn.SiteHere{}, err
		}
	}
	role, err := d.Tools.Role(ctx, site, v.Account)
	return turn.SiteHere{Slug: outward(site.Slug), Title: site.Title, Role: string(role), MembersAre: string(site.MembersAre), URL: d.Start(site.Slug)}, err
}

func (d Desk) find(ctx context.Context, v turn.SiteVisit) (store.Site, error) {
	if v.Group != (users.Place{}) {
		site, err := d.Store.OfGroup(ctx, group(v.Group))
		if err == nil && !site.Off || err != nil && !errors.Is(err, store.ErrNotFound) {
			return site, err
		}
	}
	return d.Store.Site(ctx, store.House)
}

// Use carries out a tool on a site.
func (d Desk) Use(ctx context.Context, slug, accountID, tool string, inputs map[string]any) (json.RawMessage, error) {
	answer, err := d.Tools.In(inward(slug)).Use(ctx, accountID, tool, inputs, d.Media)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("answer of %s: %w", tool, err)
	}
	return raw, nil
}

// byAdmin refuses everybody but the admins of the group.
func byAdmin(ctx context.Context, v turn.SiteVisit) error {
	if v.Group == (users.Place{}) || !v.Runs(ctx) {
		return registry.Say(registry.CodeUnauthorized, said.SiteAdmins)
	}
	return nil
}

// SwitchOn gives the group a site, or back the one that it had.
func (d Desk) SwitchOn(ctx context.Context, v turn.SiteVisit, like turn.SiteName) error {
	if err := byAdmin(ctx, v); err != nil {
		return err
	}
	_, err := d.Store.SwitchOn(ctx, group(v.Group), store.Site{Slug: like.Slug, Title: like.Title, Language: like.Language}, v.Account)
	return err
}

// SwitchOff hides the group's site.
func (d Desk) SwitchOff(ctx context.Context, v turn.SiteVisit) error {
	return d.ofGroup(ctx, v, d.Store.SwitchOff)
}

// MembersAre says which role those have in the group's site who don't run the group.
func (d Desk) MembersAre(ctx context.Context, v turn.SiteVisit, role string) error {
	return d.ofGroup(ctx, v, func(ctx context.Context, site store.Site) error {
		return d.Store.MembersAre(ctx, site, store.Role(role))
	})
}

// ofGroup does something with the site of the group, for who runs it.
func (d Desk) ofGroup(ctx context.Context, v turn.SiteVisit, do func(context.Context, store.Site) error) error {
	if err := byAdmin(ctx, v); err != nil {
		return err
	}
	site, err := d.Store.OfGroup(ctx, group(v.Group))
	if err != nil {
		return err
	}
	return do(ctx, site)
}

// Works reports whether an account has a role in any site.
func (d Desk) Works(ctx context.Context, accountID string) (bool, error) {
	mine, err := d.Tools.Working(ctx, accountID)
	return len(mine) > 0, err
}

// Standing asks the platforms of groups how accounts stand in them: with the identities that they have there. teller gives the platform with a name;
// nil: it can't tell.
func Standing(people turn.Links, teller func(platform string) chat.MemberTeller) func(ctx context.Context, g store.Group, account string) (in, runs bool, err error) {
	return func(ctx context.Context, g store.Group, account string) (in, runs bool, err error) {
		kind, place, _ := strings.Cut(g.Place, ":")
		platform := teller(g.Platform)
		if platform == nil || kind != string(users.PlaceChat) {
			return false, false, fmt.Errorf("%s can't tell who is in %s", g.Platform, g.Place)
		}
		identities, err := people.Identities(ctx, account)
		for _, one := range identities {
			if one.Platform != g.Platform || err != nil {
				continue
			}
			var here, may bool
			here, may, err = platform.Member(ctx, place, one.ExternalID)
			in, runs = in || here, runs || may
		}
		return in, runs, err
	}
}
