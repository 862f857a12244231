package turn

import (
	"context"
	"encoding/json"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/users"
)

// Site is the house's site and those of groups, run by tools in the name of accounts. The house's has the empty slug here.
type Site interface {
	// Enter tells on which site somebody works, and what they may do there: that of their group where it has one, or else the house's.
	Enter(ctx context.Context, v SiteVisit) (SiteHere, error)
	// Use carries out a tool on a site and gives its answer, a JSON object. Anyone who may not use it gets a *registry.Error with
	// CodeUnauthorized.
	Use(ctx context.Context, slug, accountID, tool string, inputs map[string]any) (json.RawMessage, error)
	// SwitchOn gives a group a site, SwitchOff hides it, and MembersAre says which role those have who don't run the group: editor, author or
	// none. Only who runs the group may; others get a *registry.Error with CodeUnauthorized.
	SwitchOn(ctx context.Context, v SiteVisit, like SiteName) error
	SwitchOff(ctx context.Context, v SiteVisit) error
	MembersAre(ctx context.Context, v SiteVisit, role string) error
}

// SiteVisit is somebody who works on a site.
type SiteVisit struct {
	Account string
	Group   users.Place                // where they write; zero: in no group
	Runs    func(context.Context) bool // whether they run the group; asked only where it matters
}

// SiteName is what a new site is called.
type SiteName struct {
	Slug     string // is wished for: it gets another where there is one like it
	Title    string
	Language string
}

// SiteHere is a site as somebody finds it.
type SiteHere struct {
	Slug       string // empty: the house's
	Title      string
	Role       string // owner, editor, author or none
	MembersAre string // of a group's: the role of those who don't run it
	URL        string // where visitors find it
}

// NoRole is the role in a site of anyone who has none.
const NoRole = "none"

// SiteVisit is the sender as somebody who works on a site.
func (t *Turn) SiteVisit() SiteVisit {
	v := SiteVisit{Account: t.Account.ID, Runs: t.RunsHere}
	if t.In.Chat.Kind != chat.ChatPrivate && t.In.Chat.Inline == nil {
		v.Group = t.ChatPlace()
	}
	return v
}

// Site is the site that the sender works on. It is looked up once.
func (t *Turn) Site(ctx context.Context) (SiteHere, error) {
	if t.site != nil || t.Services.Site == nil {
		return t.siteOrNone(), nil
	}
	here, err := t.Services.Site.Enter(ctx, t.SiteVisit())
	if err == nil {
		t.site = &here
	}
	return here, err
}

func (t *Turn) siteOrNone() SiteHere {
	if t.site == nil {
		return SiteHere{Role: NoRole}
	}
	return *t.site
}

// LookAgain forgets the site that was looked up, which was changed.
func (t *Turn) LookAgain() { t.site = nil }
