package content_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

const (
	admin  = "00000000-0000-4000-8000-000000000011" // runs the group, and switched its site on
	other  = "00000000-0000-4000-8000-000000000012" // runs it too
	member = "00000000-0000-4000-8000-000000000013"
)

var painters = store.Group{Platform: "telegram", Place: "chat:-100"}

// newGroup is a house in which a group has a site: who runs the group and a member were seen there.
func newGroup(t *testing.T, change ...func(*content.Config)) (*contenttest.House, store.Site) {
	t.Helper()
	h := contenttest.New(t, change...)
	site, err := h.Store.SwitchOn(t.Context(), painters, store.Site{Slug: "painters", Title: "Painters", Language: "de"}, admin)
	if err != nil {
		t.Fatal(err)
	}
	for account, runs := range map[string]bool{other: true, member: false} {
		if err := h.Store.SeenIn(t.Context(), site, account, runs); err != nil {
			t.Fatal(err)
		}
	}
	return h, site
}

func code(err error) registry.Code {
	if err == nil {
		return ""
	}
	return registry.AsError(err).Code
}

// TestOperatorsCallsOnABudget has an operator's calls draw on the budget of a key, which has nothing of an operator, and on that of a question to a
// model, which has.
func TestOperatorsCallsOnABudget(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t, func(c *content.Config) {
		c.OfKey = func(budget string) bool { return strings.HasPrefix(budget, "key:") }
	})
	for budget, want := range map[string]registry.Code{"": "", "key:7": registry.CodeUnauthorized, "question:7": ""} {
		call, err := h.Prepare(contenttest.Operator, "getPage", object{"all": true})
		if err != nil {
			t.Fatal(err)
		}
		call.Budget = budget
		if _, err := h.Carry(call); code(err) != want {
			t.Errorf("on the budget %q: got %v, want %q", budget, err, want)
		}
	}
}

func TestRightsInTheSiteOfAGroup(t *testing.T) {
	t.Parallel()
	h, site := newGroup(t)
	group := h.In(site.Slug)
	use := func(account, tool string, inputs object) error {
		_, err := group.Use(t.Context(), account, tool, inputs, h.Files)
		return err
	}
	for name, one := range map[string]struct {
		account                                  string
		looks, writes, creates, publishes, owner bool
	}{
		"who switched it on owns it":                    {admin, true, true, true, true, true},
		"who runs the group is an editor":               {other, true, true, true, true, false},
		"a member is an author":                         {member, true, true, false, false, false},
		"an operator owns all sites":                    {contenttest.Operator, true, true, true, true, true},
		"an editor of the house is nobody there":        {contenttest.Editor, false, false, false, false, false},
		"who was not seen in the group is nobody there": {contenttest.Stranger, false, false, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			slug := h.Slug()
			for what, got := range map[string]struct {
				err error
				may bool
			}{
				"looks":     {use(one.account, "getPage", object{"all": true}), one.looks},
				"writes":    {use(one.account, "createPost", object{"collectionSlug": "blog", "slug": slug, "title": "T", "content": object{"body": "B"}}), one.writes},
				"creates":   {use(one.account, "createPage", object{"name": "P", "slug": slug}), one.creates},
				"publishes": {publish(group.Use, t.Context(), one.account, admin, h.Slug()), one.publishes},
				"members":   {call(group.Members(t.Context(), one.account)), one.owner},
				"names":     {call(group.Describe(t.Context(), one.account, "Painters", "", "")), one.owner},
			} {
				if (got.err == nil) != got.may || got.err != nil && code(got.err) != registry.CodeUnauthorized {
					t.Errorf("%s: %v, may: %v", what, got.err, got.may)
				}
			}
		})
	}
	t.Run("nobody of the group has a role in the house", func(t *testing.T) {
		for _, account := range []string{admin, other, member} {
			if _, err := h.As(account, "getPage", object{"all": true}); code(err) != registry.CodeUnauthorized {
				t.Errorf("%s: %v", account, err)
			}
		}
	})
	t.Run("a thing of one site is not there in another", func(t *testing.T) {
		page := h.Page("house-only")
		if _, err := group.Use(t.Context(), admin, "updatePage", object{"id": page, "name": "Taken"}, nil); code(err) != registry.CodeInvalidInput {
			t.Errorf("a page of the house was changed by a group: %v", err)
		}
		if got := h.Items("getPage", object{"id": page})[0]["name"]; got != "House-only" {
			t.Errorf("it is called %v", got)
		}
	})
	t.Run("runs name the site, and what links there", func(t *testing.T) {
		c, err := h.Prepare(other, "createPage", object{"name": "Kiln", "slug": "kiln"})
		if err != nil {
			t.Fatal(err)
		}
		c.Context.SiteID = site.Slug
		made, err := h.Carry(c)
		if err != nil {
			t.Fatal(err)
		}
		if page := made["page"].(object); page["url"] != "/site/painters/kiln" || !strings.HasPrefix(made["previewUrl"].(string), "/site/painters/preview/page/") {
			t.Errorf("got %v", made)
		}
		if items := h.Items("getPage", object{"slug": "kiln"}); len(items) != 0 {
			t.Errorf("the house has it: %v", items)
		}
	})
}

// call gives the error of an answer.
func call(_ any, err error) error { return err }

// publish has a post written by one and published by another.
func publish(use func(context.Context, string, string, map[string]any, registry.MediaOpener) (any, error), ctx context.Context, account, writer, slug string) error {
	if _, err := use(ctx, writer, "createPost", object{"collectionSlug": "blog", "slug": slug, "title": "T", "content": object{"body": "B"}}, nil); err != nil {
		return err
	}
	_, err := use(ctx, account, "updatePost", object{"slug": slug, "status": "published", "confirmed": true}, nil)
	return err
}

func TestSiteOfAGroupIsSwitched(t *testing.T) {
	t.Parallel()
	h, site := newGroup(t)
	group := h.In(site.Slug)
	look := func(account string) error {
		_, err := group.Use(t.Context(), account, "getPage", object{"all": true}, nil)
		return err
	}
	role := func(account string) store.Role {
		t.Helper()
		got, err := h.Role(t.Context(), site, account)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	t.Run("its admins say what members are", func(t *testing.T) {
		for _, want := range []store.Role{store.Editor, store.None, store.Author} {
			if err := h.Store.MembersAre(t.Context(), site, want); err != nil {
				t.Fatal(err)
			}
			if got := role(member); got != want {
				t.Errorf("a member is %s, want %s", got, want)
			}
		}
		if err := h.Store.MembersAre(t.Context(), site, store.Owner); err == nil {
			t.Error("all members own it")
		}
	})
	t.Run("a role by account and one by chat: the higher holds", func(t *testing.T) {
		if err := group.SetRole(t.Context(), admin, member, "editor"); err != nil {
			t.Fatal(err)
		}
		if got := role(member); got != store.Editor {
			t.Errorf("got %s", got)
		}
		if err := group.SetRole(t.Context(), admin, member, "none"); err != nil {
			t.Fatal(err)
		}
		if got := role(member); got != store.Author {
			t.Errorf("got %s", got)
		}
	})
	t.Run("who does not run the group any more is a member from then on, who is not seen there for hours is nobody", func(t *testing.T) {
		if err := h.Store.SeenIn(t.Context(), site, other, false); err != nil {
			t.Fatal(err)
		}
		if got := role(other); got != store.Author {
			t.Errorf("got %s", got)
		}
		if _, err := h.Pool.Exec(t.Context(), `UPDATE site_chat_roles SET told_at = now() - interval '4 hours 1 second' WHERE account_id = $1`, other); err != nil {
			t.Fatal(err)
		}
		if got := role(other); got != store.None {
			t.Errorf("got %s", got)
		}
		if err := h.Store.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.Store.SeenIn(t.Context(), site, other, true); err != nil || role(other) != store.Editor {
			t.Errorf("seen again: %s, %v", role(other), err)
		}
	})
	t.Run("switched off nobody works on it, not even who owns it, and nothing is lost", func(t *testing.T) {
		made, err := group.Use(t.Context(), admin, "createPage", object{"name": "Kiln", "slug": "kiln"}, nil)
		if err != nil {
			t.Fatal(made, err)
		}
		if err := h.Store.SwitchOff(t.Context(), site); err != nil {
			t.Fatal(err)
		}
		for _, account := range []string{admin, other, member, contenttest.Operator} {
			if err := look(account); code(err) != registry.CodeLost {
				t.Errorf("%s: %v", account, err)
			}
		}
		again, err := h.Store.SwitchOn(t.Context(), painters, store.Site{Slug: "painters", Title: "Painters"}, other)
		if err != nil || again.ID != site.ID || again.Slug != site.Slug {
			t.Fatalf("%+v, %v", again, err)
		}
		answer, err := group.Use(t.Context(), other, "getPage", object{"slug": "kiln"}, nil)
		if err != nil || !strings.Contains(fmt.Sprintf("%+v", answer), "Kiln") {
			t.Errorf("%v, %v", answer, err)
		}
		if got := role(other); got != store.Owner {
			t.Errorf("who switched it on is %s", got)
		}
	})
	t.Run("the house can't be switched off", func(t *testing.T) {
		if err := h.Store.SwitchOff(t.Context(), h.Site); err != nil {
			t.Fatal(err)
		}
		h.Do("getPage", object{"all": true})
	})
}

func TestAddressesOfSitesOfGroups(t *testing.T) {
	t.Parallel()
	h, _ := newGroup(t)
	page := h.Page("about")
	for wish, want := range map[string]string{"painters": "painters-2", "about": "about-2", "blog": "blog-2", "static": "group-static", "de": "group-de", "": "group", "home": "group-home"} {
		site, err := h.Store.SwitchOn(t.Context(), store.Group{Platform: "discord", Place: "chat:" + wish}, store.Site{Slug: wish, Language: "en"}, admin)
		if err != nil || site.Slug != want {
			t.Errorf("%q: got %q, want %q: %v", wish, site.Slug, want, err)
		}
	}
	t.Run("no page of the house takes the address of a group", func(t *testing.T) {
		_, created := h.As(contenttest.Operator, "createPage", object{"name": "P", "slug": "painters"})
		_, moved := h.As(contenttest.Operator, "updatePage", object{"id": page, "slug": "painters"})
		for _, err := range []error{created, moved} {
			var refused *registry.Error
			if !errors.As(err, &refused) || refused.Field != "slug" || !strings.Contains(refused.Message, "address") {
				t.Errorf("got %v", err)
			}
		}
	})
	t.Run("groups of one name that switch on at once get a site each, and one of each group", func(t *testing.T) {
		var all sync.WaitGroup
		slugs := make([]string, 12)
		for i := range slugs {
			all.Go(func() {
				site, err := h.Store.SwitchOn(t.Context(), store.Group{Platform: "web", Place: fmt.Sprint("chat:", i/2)}, store.Site{Slug: "potters", Language: "en"}, admin)
				if err != nil {
					t.Error(err)
				}
				slugs[i] = site.Slug
			})
		}
		all.Wait()
		distinct := map[string]bool{}
		for i, slug := range slugs {
			distinct[slug] = true
			if slug != slugs[i/2*2] {
				t.Errorf("a group has %s and %s", slug, slugs[i/2*2])
			}
		}
		if len(distinct) != 6 {
			t.Errorf("six groups have %v", slugs)
		}
	})
	t.Run("in a group's site the same slug is free", func(t *testing.T) {
		if _, err := h.In("painters").Use(t.Context(), admin, "createPage", object{"name": "P", "slug": "painters-2"}, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestHistoryAndBinOfTheSiteOfAGroup(t *testing.T) {
	t.Parallel()
	h, site := newGroup(t)
	group := h.In(site.Slug)
	if _, err := group.Use(t.Context(), admin, "createPost", object{"collectionSlug": "blog", "slug": "mugs", "title": "Mugs", "content": object{"body": "Old"}}, nil); err != nil {
		t.Fatal(err)
	}
	content := h.Store.In(site, admin)
	post := func() store.Entry {
		t.Helper()
		posts, err := content.Entries(t.Context(), store.EntryQuery{Slug: "mugs"})
		if err != nil || len(posts) != 1 {
			t.Fatal(posts, err)
		}
		return posts[0]
	}
	t.Run("two editors at once: the later is told", func(t *testing.T) {
		change := object{"slug": "mugs", "content": object{"body": "New"}}
		if _, err := group.UseAt(t.Context(), other, "updatePost", change, nil, "1"); err != nil {
			t.Fatal(err)
		}
		var refused *registry.Error
		if _, err := group.UseAt(t.Context(), admin, "updatePost", change, nil, "1"); !errors.As(err, &refused) || refused.Field != "version" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("history is restored by editors of the group, and by nobody of another site", func(t *testing.T) {
		revisions, err := content.History(t.Context(), "entry", post().ID)
		if err != nil || len(revisions) != 2 {
			t.Fatal(revisions, err)
		}
		if err := h.Revert(t.Context(), contenttest.Editor, revisions[1].ID); code(err) != registry.CodeLost {
			t.Errorf("by an editor of the house: %v", err)
		}
		if err := group.Revert(t.Context(), member, revisions[1].ID); code(err) != registry.CodeUnauthorized {
			t.Errorf("by a member: %v", err)
		}
		if err := group.Revert(t.Context(), other, revisions[1].ID); err != nil || post().Content["body"] != "Old" {
			t.Errorf("%v, %v", post(), err)
		}
	})
	t.Run("a draft is published at its time", func(t *testing.T) {
		if _, err := group.Use(t.Context(), other, "updatePost", object{"slug": "mugs", "publishAt": "2020-01-01T00:00:00Z", "confirmed": true}, nil); err != nil {
			t.Fatal(err)
		}
		if n, err := h.Store.PublishDue(t.Context()); err != nil || n != 1 || post().Status != store.Published {
			t.Errorf("%d published: %+v, %v", n, post(), err)
		}
	})
}

func TestRolesByChatFollowAccounts(t *testing.T) {
	t.Parallel()
	h, site := newGroup(t)
	in := func(do func(ctx context.Context, tx pgx.Tx) error) {
		t.Helper()
		if err := postgres.InTx(t.Context(), h.Pool, func(tx pgx.Tx) error { return do(t.Context(), tx) }); err != nil {
			t.Fatal(err)
		}
	}
	in(func(ctx context.Context, tx pgx.Tx) error { return store.Adopt(ctx, tx, member, contenttest.Stranger) })
	in(func(ctx context.Context, tx pgx.Tx) error { return store.Forget(ctx, tx, other) })
	for _, account := range []string{member, other, contenttest.Stranger} {
		if got, err := h.Role(t.Context(), site, account); err != nil || got != store.None {
			t.Errorf("%s is %s, %v", account, got, err)
		}
	}
}

func TestGroupIsAskedAgain(t *testing.T) {
	t.Parallel()
	asked, in, runs := 0, true, true
	var away error
	h, site := newGroup(t, func(c *content.Config) {
		c.Standing = func(_ context.Context, g store.Group, account string) (bool, bool, error) {
			asked++
			if g != painters || account != other {
				t.Errorf("%+v is asked about %s", g, account)
			}
			return in, runs, away
		}
	})
	is := func(what string, want store.Role, times int) {
		t.Helper()
		if got, err := h.Role(t.Context(), site, other); got != want || err != nil || asked != times {
			t.Errorf("%s: %s, %v, asked %d times; want %s after %d", what, got, err, asked, want, times)
		}
	}
	later := func() {
		t.Helper()
		if _, err := h.Pool.Exec(t.Context(), `UPDATE site_chat_roles SET told_at = told_at - interval '6 minutes'`); err != nil {
			t.Fatal(err)
		}
	}
	is("who was seen just now", store.Editor, 0)
	later()
	away = errors.New("the platform does not answer")
	is("where nobody knows", store.Editor, 1)
	is("where nobody knew a moment ago", store.Editor, 1)

	h, site = newGroup(t, func(c *content.Config) {
		c.Standing = func(context.Context, store.Group, string) (bool, bool, error) { asked++; return in, runs, nil }
	})
	later()
	runs = false
	is("who runs the group no more", store.Author, 2)
	is("once more", store.Author, 2)

	h, site = newGroup(t, func(c *content.Config) {
		c.Standing = func(context.Context, store.Group, string) (bool, bool, error) { asked++; return false, false, nil }
	})
	later()
	is("who has left", store.None, 3)
	is("once more", store.None, 3)
	if _, err := h.In(site.Slug).Use(t.Context(), other, "createPage", object{"name": "Left", "slug": "left"}, nil); code(err) != registry.CodeUnauthorized {
		t.Errorf("who has left makes a page: %v", err)
	}
}
