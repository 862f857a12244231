package content

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// Use carries out a tool for an account without a run, and gives its answer. Inputs are checked as those of runs are.
func (p *Provider) Use(ctx context.Context, account, toolID string, inputs map[string]any, media registry.MediaOpener) (any, error) {
	return p.UseAt(ctx, account, toolID, inputs, media, "")
}

// UseAt is Use for somebody who has seen a version of what they change: when there is another one by now nothing is changed, and the
// error is at VersionField.
func (p *Provider) UseAt(ctx context.Context, account, toolID string, inputs map[string]any, media registry.MediaOpener, version string) (any, error) {
	c := registry.Call{Tool: registry.Tool{ToolID: toolID, DisplayName: toolID}, UserID: account, Inputs: map[string]any{}, Media: media}
	for _, t := range p.tools {
		if t.id == toolID {
			c.Tool.InputSchema = t.inputs
		}
	}
	for name, value := range inputs {
		f, known := c.Tool.InputSchema.Get(name)
		if !known {
			return nil, registry.Say(registry.CodeInvalidInput, said.InputUnknown, "tool", toolID).At(name)
		}
		if value != nil {
			checked, refused := registry.CheckValue(f, value)
			if refused != nil {
				return nil, refused
			}
			value = checked
		}
		c.Inputs[name] = value
	}
	return p.doAt(ctx, c, version)
}

// admit gives the site to an account that has at least a role in it.
func (p *Provider) admit(ctx context.Context, account string, least store.Role) (store.Site, store.Content, error) {
	site, err := p.Site(ctx, "")
	if err != nil {
		return site, store.Content{}, err
	}
	role, err := p.Role(ctx, site, account)
	if err == nil && !role.Covers(least) {
		err = registry.Say(registry.CodeUnauthorized, said.SiteRoleNeeded, "role", least, "own", role)
	}
	return site, p.cfg.Store.In(site, account), err
}

// Worked is a site with the role that somebody has in it.
type Worked struct {
	store.Site
	Role store.Role `json:"role"`
}

// Sites lists the sites in which an account has a role, the house's first.
func (p *Provider) Sites(ctx context.Context, account string) (any, error) {
	mine, err := p.Working(ctx, account)
	return found(mine), err
}

// Working gives the sites in which an account has a role, the house's first.
func (p *Provider) Working(ctx context.Context, account string) ([]Worked, error) {
	all, err := p.cfg.Store.Sites(ctx, account)
	if err != nil {
		return nil, err
	}
	var mine []Worked
	for _, site := range all {
		role, err := p.Role(ctx, site, account)
		if err != nil {
			return nil, err
		}
		if role != store.None {
			mine = append(mine, Worked{site, role})
		}
	}
	return mine, nil
}

// Navigations lists the menus of the site.
func (p *Provider) Navigations(ctx context.Context, account string) (any, error) {
	_, c, err := p.admit(ctx, account, store.Author)
	if err != nil {
		return nil, err
	}
	list, err := c.Navigations(ctx)
	return found(list), err
}

// Collections lists the collections of the site.
func (p *Provider) Collections(ctx context.Context, account string) (any, error) {
	_, c, err := p.admit(ctx, account, store.Author)
	if err != nil {
		return nil, err
	}
	list, err := c.Collections(ctx)
	return found(list), err
}

// OrderSections puts all sections of a page into an order, as one change.
func (p *Provider) OrderSections(ctx context.Context, account, page string, ids []string) error {
	_, c, err := p.admit(ctx, account, store.Editor)
	if err != nil {
		return err
	}
	return c.OrderSections(ctx, page, ids)
}

// Members lists who has a role in the site.
func (p *Provider) Members(ctx context.Context, account string) (any, error) {
	site, _, err := p.admit(ctx, account, store.Owner)
	if err != nil {
		return nil, err
	}
	list, err := p.cfg.Store.Members(ctx, site)
	return found(list), err
}

// SetRole gives an account a role in the site, or takes it away. Only owners do so.
func (p *Provider) SetRole(ctx context.Context, by, account, role string) error {
	site, _, err := p.admit(ctx, by, store.Owner)
	if err != nil {
		return err
	}
	id, err := (args{"account": account}).id("account", "the console's page People")
	if err != nil {
		return err
	}
	switch store.Role(role) {
	case store.Owner, store.Editor, store.Author, store.None:
		return p.cfg.Store.SetRole(ctx, site, id, store.Role(role))
	}
	return registry.Say(registry.CodeInvalidInput, said.SiteRoleUnknown, "role", short(role)).At("role")
}

// Bin lists what was deleted within 30 days.
func (p *Provider) Bin(ctx context.Context, account string) (any, error) {
	_, c, err := p.admit(ctx, account, store.Editor)
	if err != nil {
		return nil, err
	}
	list, err := c.Bin(ctx)
	return found(list), err
}

// Restore brings something back from the bin.
func (p *Provider) Restore(ctx context.Context, account string, id int64) error {
	_, c, err := p.admit(ctx, account, store.Editor)
	if err != nil {
		return err
	}
	err = c.Restore(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return registry.Say(registry.CodeLost, said.SiteBinNone).Because(err)
	}
	return err
}

// History lists the versions of something, the latest first. kind is page, section, entry, navItem or image.
func (p *Provider) History(ctx context.Context, account, kind, id string) (any, error) {
	_, c, err := p.admit(ctx, account, store.Editor)
	if err != nil {
		return nil, err
	}
	list, err := c.History(ctx, kind, id)
	return found(list), err
}

// Revert gives something the content that it had in a revision of its history.
func (p *Provider) Revert(ctx context.Context, account string, revision int64) error {
	_, c, err := p.admit(ctx, account, store.Editor)
	if err != nil {
		return err
	}
	err = c.Revert(ctx, revision)
	if errors.Is(err, store.ErrNotFound) {
		return registry.Say(registry.CodeLost, said.SiteNoRevision).Because(err)
	}
	return err
}

// Describe says what the site is called, what it is about and in which language it is. Empty texts stay as they are.
func (p *Provider) Describe(ctx context.Context, account, title, description, language string) (any, error) {
	site, _, err := p.admit(ctx, account, store.Owner)
	if err != nil {
		return nil, err
	}
	for to, text := range map[*string]string{&site.Title: title, &site.Description: description, &site.Language: language} {
		if text != "" {
			*to = text
		}
	}
	return site, p.cfg.Store.Describe(ctx, site)
}
