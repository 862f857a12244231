package content

import (
	"context"
	"errors"
	"strconv"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

func navigationTools() []tool {
	navigation := textInput("navigationId", "The id or slug of a navigation: main, footer or another of the site.")
	label := textInput("label", "What the item says.")
	targets := choiceInput("targetType", "Where it leads: page, entry and media with targetId, url with url, placeholder nowhere.", store.TargetPage, store.TargetEntry, store.TargetMedia, store.TargetURL, store.TargetPlaceholder)
	target := registry.InputSchema{
		textInput("targetId", "The id of the page, entry or image that it leads to."), textInput("url", "The address that it leads to, for targetType url."),
		parentInput("parentId", "The id of the item that it is below; null is the top."), wholeInput("sortOrder", "Its place among those with the same parent, from 0; the others make room.", 0),
	}
	return []tool{
		{
			id: "getNavItem", title: "Get menu items", noun: "navItem", names: "id", capability: registry.CapabilityRead, role: store.Author, answers: gives, do: getNavItem,
			about:  "Get items of a navigation by id, or of navigationId by label or all. Each tells its parent, place, target and whether it is visible. Returns success, count and items with ids.",
			inputs: registry.InputSchema{textInput("id", "The item's id."), navigation, textInput("label", "Items of the navigation that say exactly this."), flagInput("all", "true gives all items of the navigation.")},
		},
		{
			id: "createNavItem", title: "Create a menu item", noun: "navItem", names: "navigationId", capability: registry.CapabilityWrite, role: store.Editor, answers: changes, do: createNavItem, preview: looking(createNavItem),
			about:  "Create an item in a navigation that leads to a page, entry, image or address, or is a placeholder. parentId puts it below another item of the same navigation; without sortOrder it comes last. Returns navItemId.",
			inputs: append(registry.InputSchema{need(navigation), need(label), need(targets)}, target...),
		},
		{
			id: "updateNavItem", title: "Update a menu item", noun: "navItem", names: "id", capability: registry.CapabilityWrite, role: store.Editor, answers: changes, do: updateNavItem, preview: looking(updateNavItem),
			about:  "Update an item by id; its label does not name it. Merges: only what is sent changes. visible false hides it and keeps it; parentId and sortOrder move it. Returns the item.",
			inputs: append(registry.InputSchema{need(textInput("id", "The item's id, as getNavItem gives it; its label does not name it here.")), label, targets}, append(target, flagInput("visible", "Whether visitors see it."))...),
		},
		navItemDeletion.tool("deleteNavItem", "Delete menu items", "Delete items of navigations by ids. The first call shows what would go and changes nothing; confirmed then deletes exactly that, all or none. Items below move up. Returns requiresConfirmation with items, then deleted."),
	}
}

// navigation finds the navigation that a call names.
func (v visit) navigation(ctx context.Context) (store.Navigation, error) {
	key := v.args.text("navigationId")
	n, err := v.Navigation(ctx, key)
	if !errors.Is(err, store.ErrNotFound) {
		return n, err
	}
	all, err := v.Navigations(ctx)
	if err != nil {
		return n, err
	}
	var slugs []string
	for _, one := range all {
		slugs = append(slugs, one.Slug)
	}
	return n, registry.Say(registry.CodeInvalidInput, said.SiteNoNavigation, "name", short(key), "names", either(slugs)).At("navigationId")
}

func getNavItem(_ *Provider, ctx context.Context, v visit) (any, error) {
	byID := v.args.has("id")
	switch {
	case !byID && !v.args.has("navigationId"):
		return nil, registry.Say(registry.CodeInvalidInput, said.SiteNavScope).At("navigationId")
	case byID, v.args.has("label") && v.args.flag("all"):
		if err := v.args.oneScope("getNavItem", "id", "label", "all"); err != nil {
			return nil, err
		}
	}
	q := store.NavQuery{Label: v.args.text("label")}
	var err error
	if byID {
		if q.ID, err = v.args.id("id", "getNavItem by navigationId"); err != nil {
			return nil, err
		}
	}
	if v.args.has("navigationId") {
		navigation, err := v.navigation(ctx)
		if err != nil {
			return nil, err
		}
		q.NavigationID = navigation.ID
	}
	items, err := v.NavItems(ctx, q)
	return found(items), err
}

// changedNavItem is what creating and updating an item answers.
type changedNavItem struct {
	Success   bool          `json:"success"`
	NavItemID string        `json:"navItemId"`
	NavItem   store.NavItem `json:"navItem"`
}

func tellNavItem(ctx context.Context, v visit, id string) (any, error) {
	items, err := v.NavItems(ctx, store.NavQuery{ID: id})
	if err == nil && len(items) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return changedNavItem{true, id, items[0]}, nil
}

func createNavItem(_ *Provider, ctx context.Context, v visit) (any, error) {
	navigation, err := v.navigation(ctx)
	if err != nil {
		return nil, err
	}
	n := store.NavItem{NavigationID: navigation.ID, Label: v.args.text("label"), Visible: true}
	if err := v.setTarget(&n); err != nil {
		return nil, err
	}
	if err := v.args.setParent(&n.ParentID, "parentId"); err != nil {
		return nil, err
	}
	id, err := v.addNavItem(ctx, navigation, n, v.args.whole("sortOrder"))
	if err != nil {
		return nil, err
	}
	return tellNavItem(ctx, v, id)
}

// setTarget sets where an item leads by what a call sends: another type takes away the target of the one before.
func (v visit) setTarget(n *store.NavItem) error {
	fail := func(field, message string) error {
		return &registry.Error{Code: registry.CodeInvalidInput, Field: field, Message: message}
	}
	if kind := v.args.text("targetType"); kind != "" && kind != n.TargetType {
		n.TargetType, n.TargetID, n.URL = kind, nil, nil
	}
	byID := n.TargetType == store.TargetPage || n.TargetType == store.TargetEntry || n.TargetType == store.TargetMedia
	switch {
	case v.args.has("targetId") && !byID:
		return fail("targetId", "targetId is for targetType page, entry and media; "+n.TargetType+" has none")
	case v.args.has("url") && n.TargetType != store.TargetURL:
		return fail("url", "url is for targetType url; "+n.TargetType+" has none")
	case v.args.has("targetId") && n.TargetType == store.TargetMedia:
		id, err := v.imageID("targetId")
		if err != nil {
			return err
		}
		n.TargetID = &id
	case v.args.has("targetId"):
		id, err := v.args.id("targetId", "getPage or getEntry")
		if err != nil {
			return err
		}
		n.TargetID = &id
	case v.args.has("url"):
		address := v.args.text("url")
		if !layout.SafeURL(address) {
			return fail("url", "expected an address that begins with https://, http://, mailto: or tel:, or a path of this site such as /site/about")
		}
		n.URL = &address
	}
	if byID && n.TargetID == nil {
		return fail("targetId", "targetType "+n.TargetType+" needs a targetId: the id of what it leads to")
	}
	if n.TargetType == store.TargetURL && n.URL == nil {
		return fail("url", "targetType url needs a url")
	}
	return nil
}

func updateNavItem(_ *Provider, ctx context.Context, v visit) (any, error) {
	id, err := v.args.id("id", "getNavItem by navigationId")
	if err != nil {
		return nil, err
	}
	err = v.changeNavItem(ctx, id, v.args.whole("sortOrder"), func(n *store.NavItem) error {
		v.args.setWhole(&n.SortOrder, "sortOrder")
		v.args.setText(&n.Label, "label")
		v.args.setFlag(&n.Visible, "visible")
		if err := v.setTarget(n); err != nil {
			return err
		}
		return v.args.setParent(&n.ParentID, "parentId")
	})
	if err != nil {
		return nil, err
	}
	return tellNavItem(ctx, v, id)
}

func touchNavItem(n store.NavItem) registry.Touch {
	return registry.Touch{Kind: "navItem", ID: n.ID, Title: n.Label, Version: strconv.FormatInt(n.Version, 10)}
}

var navItemDeletion = deletion{
	noun: "menu item", question: said.SiteDeleteMenuItems, key: "ids", note: "visible false with updateNavItem hides one and keeps it. Items below move up.",
	find: func(ctx context.Context, v visit, keys []string) ([]thing, error) {
		items, err := v.NavItems(ctx, store.NavQuery{IDs: keys})
		things := map[string]thing{}
		for _, n := range items {
			things[n.ID] = thing{
				Touch: touchNavItem(n),
				shown: map[string]any{"id": n.ID, "title": n.Label, "navigationId": n.NavigationID},
			}
		}
		return inOrder(keys, things, "menu item", "id"), err
	},
	delete: func(ctx context.Context, v visit, shown []registry.Touch) error { return v.DeleteNavItems(ctx, shown) },
}
