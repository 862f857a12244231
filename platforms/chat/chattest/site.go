package chattest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// siteWork is how a site is run from the chat.
func siteWork() map[string]func(*scene) {
	return map[string]func(*scene){
		"post makes a draft of words and a photo, and Publish shows it to all":  postFromChat,
		"post twice with the same title makes two, handled twice makes one":     postTwice,
		"a reply to a photo makes a post of it":                                 postOfReply,
		"who has no role in the site is told so":                                siteWithoutRole,
		"an author's press of Publish is told who publishes":                    siteAuthorPublishes,
		"site lists what there is in pages and leads to each thing":             siteLists,
		"what is edited in the chat changes, and nothing else does":             siteEdits,
		"deleting shows first, and shows anew what was changed since":           siteDeletes,
		"a page is published with its sections":                                 sitePagePublished,
		"the site's tools are forms drawn from their schemas":                   siteTools,
		"a result is put into a post's cover or a section of a page":            resultIntoSite,
		"results of who has no role have no button for the site":                resultWithoutSite,
		"the site can be run in another language":                               siteInGerman,
		"a group's admins switch its site on and off, and say who writes there": groupSite,
		"where there is no site its commands are not there, and old buttons no": noSite,
	}
}

// pressboard is a site in memory, as strict as the real one about roles, tools and what they take. A group may have one of its own.
type pressboard struct {
	mu     sync.Mutex
	role   string // of everybody
	things map[string][]map[string]any
	shown  map[string]string // by what was to be deleted: its version

	group      *pressboard // of the only group; nil: it never had one
	off        bool        // it is there and switched off
	membersAre string      // role of those in the group who don't run it
	roles      map[string]string
}

// groupSlug is the slug of the group's site.
const groupSlug = "painters"

// Enter gives the same role in the house's site to all.
func (p *pressboard) Enter(ctx context.Context, v turn.SiteVisit) (turn.SiteHere, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g := p.group; g != nil && !g.off && v.Group != (users.Place{}) {
		g.roles[v.Account] = g.membersAre
		if v.Runs(ctx) {
			g.roles[v.Account] = "editor"
		}
		return turn.SiteHere{Slug: groupSlug, Title: "Painters", Role: g.roles[v.Account], MembersAre: g.membersAre, URL: "https://site.example/painters/"}, nil
	}
	return turn.SiteHere{Role: p.role}, nil
}

// SwitchOn is for who runs the group.
func (p *pressboard) SwitchOn(ctx context.Context, v turn.SiteVisit, like turn.SiteName) error {
	return p.ofGroup(ctx, v, func() error {
		if like.Language == "" {
			return fmt.Errorf("nobody says in which language the site %q is", like.Slug)
		}
		if p.group == nil {
			p.group = &pressboard{membersAre: "author", roles: map[string]string{}, shown: map[string]string{}, things: map[string][]map[string]any{}}
		}
		p.group.off = false
		return nil
	})
}

// SwitchOff is for who runs the group.
func (p *pressboard) SwitchOff(ctx context.Context, v turn.SiteVisit) error {
	return p.ofGroup(ctx, v, func() error { p.group.off = true; return nil })
}

// MembersAre is for who runs the group.
func (p *pressboard) MembersAre(ctx context.Context, v turn.SiteVisit, role string) error {
	return p.ofGroup(ctx, v, func() error { p.group.membersAre = role; return nil })
}

func (p *pressboard) ofGroup(ctx context.Context, v turn.SiteVisit, do func() error) error {
	if v.Group == (users.Place{}) || !v.Runs(ctx) {
		return registry.Errorf(registry.CodeUnauthorized, "that is for who runs the group")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return do()
}

// in gives the site with a slug.
func (p *pressboard) in(slug string) *pressboard {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slug == groupSlug {
		return p.group
	}
	return p
}

// siteTool is what the pressboard knows of a tool: its list, the input that names one, and what it takes.
type siteTool struct {
	list, key, role string
	takes           []string
}

func siteToolOf(name string) (siteTool, bool) {
	tools := map[string]siteTool{
		"getPost": {"posts", "slug", "author", []string{"slug", "all"}}, "createPost": {"posts", "slug", "author", []string{"collectionSlug", "slug", "title", "content"}},
		"updatePost": {"posts", "slug", "author", []string{"slug", "title", "content", "status", "category", "author", "featuredImage", "confirmed"}},
		"deletePost": {"posts", "slug", "editor", []string{"slugs", "confirmed"}},
		"getPage":    {"pages", "id", "author", []string{"id", "all"}}, "updatePage": {"pages", "id", "editor", []string{"id", "name", "slug", "status"}}, "deletePage": {"pages", "id", "editor", []string{"ids", "confirmed"}},
		"getImage": {"images", "id", "author", []string{"id", "all", "limit"}}, "createImage": {"images", "id", "author", []string{"buffer", "filename"}},
		"updateImage": {"images", "id", "author", []string{"id", "description"}}, "deleteImage": {"images", "id", "editor", []string{"ids", "confirmed"}},
		"getSection": {"sections", "pageSectionId", "author", []string{"pageId", "pageSectionId"}}, "updateSection": {"sections", "pageSectionId", "editor", []string{"pageSectionId", "status", "imageId", "imageField"}},
		"getSectionTemplate": {"templates", "key", "author", []string{"all"}},
	}
	t, ok := tools[name]
	return t, ok
}

// Use carries out a tool as the site's own does.
func (p *pressboard) Use(_ context.Context, slug, account, name string, inputs map[string]any) (json.RawMessage, error) {
	p = p.in(slug)
	p.mu.Lock()
	defer p.mu.Unlock()
	tool, ok := siteToolOf(name)
	if !ok {
		return nil, fmt.Errorf("there is no tool %s", name)
	}
	for input := range inputs {
		if !slices.Contains(tool.takes, input) {
			return nil, registry.Errorf(registry.CodeInvalidInput, "%s does not take %s", name, input)
		}
	}
	ranks, role := []string{"none", "author", "editor", "owner"}, p.role
	if p.roles != nil {
		role = p.roles[account]
	}
	if slices.Index(ranks, role) < slices.Index(ranks, tool.role) || role == "author" && inputs["status"] == "published" {
		return nil, registry.Errorf(registry.CodeUnauthorized, "that is for an editor")
	}
	var answer map[string]any
	var err error
	switch name[:3] {
	case "get":
		answer = p.get(tool, inputs)
	case "cre":
		answer, err = p.create(tool, inputs)
	case "upd":
		answer, err = p.update(tool, inputs)
	default:
		answer = p.remove(tool, inputs)
	}
	if err != nil {
		return nil, err
	}
	answer["success"] = true
	return json.Marshal(answer)
}

func (p *pressboard) get(tool siteTool, inputs map[string]any) map[string]any {
	items := []map[string]any{}
	for _, one := range p.things[tool.list] {
		matches := inputs["all"] == true
		for _, name := range []string{tool.key, "pageId"} {
			matches = matches || inputs[name] != nil && one[name] == inputs[name]
		}
		if matches {
			items = append(items, one)
		}
	}
	return map[string]any{"count": len(items), "items": items}
}

func (p *pressboard) find(tool siteTool, key any) map[string]any {
	for _, one := range p.things[tool.list] {
		if one[tool.key] == key {
			return one
		}
	}
	return nil
}

func (p *pressboard) create(tool siteTool, inputs map[string]any) (map[string]any, error) {
	if tool.list == "images" {
		ref, _ := inputs["buffer"].(string)
		if !strings.HasPrefix(ref, "asset:") {
			return nil, registry.Errorf(registry.CodeInvalidInput, "buffer is no file: %v", inputs["buffer"])
		}
		p.put(tool, map[string]any{"id": ref, "filename": inputs["filename"], "description": ""})
		return map[string]any{"imageId": ref, "url": "/uploads/" + strings.TrimPrefix(ref, "asset:")}, nil
	}
	if p.find(tool, inputs["slug"]) != nil {
		return nil, registry.Errorf(registry.CodeInvalidInput, "the slug is taken")
	}
	if content, ok := inputs["content"].(map[string]any); !ok || inputs["title"] == "" || inputs["collectionSlug"] != "blog" || content["body"] == nil {
		return nil, registry.Errorf(registry.CodeInvalidInput, "title, content and collectionSlug are needed: %v", inputs)
	}
	one := map[string]any{"status": "draft", "previewUrl": "https://site.example/preview/" + fmt.Sprint(inputs["slug"]), "url": "/site/blog/" + fmt.Sprint(inputs["slug"])}
	maps.Copy(one, inputs)
	p.put(tool, one)
	return map[string]any{"slug": inputs["slug"]}, nil
}

// put adds a thing, the newest first.
func (p *pressboard) put(tool siteTool, one map[string]any) {
	one["version"] = 1
	p.things[tool.list] = append([]map[string]any{one}, p.things[tool.list]...)
}

func (p *pressboard) update(tool siteTool, inputs map[string]any) (map[string]any, error) {
	one := p.find(tool, inputs[tool.key])
	if one == nil {
		return nil, registry.Errorf(registry.CodeInvalidInput, "there is none")
	}
	if inputs["status"] == "published" && tool.list == "posts" && inputs["confirmed"] != true {
		return nil, registry.Errorf(registry.CodeInvalidInput, "publishing has to be confirmed")
	}
	one["version"] = one["version"].(int) + 1
	for name, value := range inputs {
		switch members, isObject := value.(map[string]any); {
		case name == "confirmed":
		case isObject:
			content := map[string]any{}
			if was, ok := one[name].(map[string]any); ok {
				content = was
			}
			maps.Copy(content, members)
			one[name] = content
		default:
			one[name] = value
		}
	}
	if tool.list == "sections" {
		for _, page := range p.things["pages"] {
			if page["id"] == one["pageId"] {
				page["status"] = one["status"]
			}
		}
	}
	if status := inputs["status"]; tool.list == "pages" && status != nil { // of all its sections
		for _, section := range p.things["sections"] {
			if section["pageId"] == one["id"] {
				section["status"] = status
			}
		}
	}
	return map[string]any{"section": one}, nil
}

func (p *pressboard) remove(tool siteTool, inputs map[string]any) map[string]any {
	keys, _ := inputs[tool.key+"s"].([]any)
	var items []map[string]any
	for _, key := range keys {
		if one := p.find(tool, key); one != nil {
			items = append(items, one)
		}
	}
	subject, version := fmt.Sprint(tool.list, keys), ""
	for _, one := range items {
		version += fmt.Sprint(one["version"], " ")
	}
	if inputs["confirmed"] != true || p.shown[subject] != version {
		p.shown[subject] = version
		return map[string]any{"requiresConfirmation": true, "items": items}
	}
	p.things[tool.list] = slices.DeleteFunc(p.things[tool.list], func(one map[string]any) bool { return slices.Contains(keys, one[tool.key]) })
	return map[string]any{"deleted": items}
}

// of gives a copy of a member of a thing, as it is now.
func (p *pressboard) of(list, key, value, member string) any {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.things[list] {
		if one[key] == value {
			raw, _ := json.Marshal(one[member])
			var member any
			_ = json.Unmarshal(raw, &member) // what was just written
			return member
		}
	}
	return nil
}

func (p *pressboard) count(list string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.things[list])
}

// siteAs gives the house a site in which everybody has a role.
func (s *scene) siteAs(role string) *pressboard {
	s.t.Helper()
	p := &pressboard{role: role, shown: map[string]string{}, things: map[string][]map[string]any{
		"pages":     {{"id": "p1", "slug": "about", "name": "About us", "status": "draft", "version": 1, "previewUrl": "https://site.example/preview/p1"}},
		"sections":  {{"pageSectionId": "s1", "pageId": "p1", "templateKey": "hero", "status": "draft", "version": 1}},
		"templates": {{"key": "hero", "fields": []map[string]any{{"name": "heading", "type": "text"}, {"name": "image", "type": "image"}}}},
	}}
	s.Site = p
	s.Restart()
	return p
}

func (s *scene) want(p *pressboard, list, key, value, member, want string) {
	s.t.Helper()
	if got := fmt.Sprint(p.of(list, key, value, member)); got != want {
		s.t.Errorf("%s of %s %s is %q, want %q", member, list, value, got, want)
	}
}

func postFromChat(s *scene) {
	p := s.siteAs("editor")
	ref := s.refOf(red())
	s.send(Post{Text: "/post New mugs!\nHere *they* are.\nBoth sizes.", Files: []File{red()}})
	m := s.labelled("Publish", "Your draft is ready", "New mugs!", "draft", "Here *they* are.", "Preview")
	s.want(p, "posts", "slug", "new-mugs", "title", "New mugs!")
	s.want(p, "posts", "slug", "new-mugs", "collectionSlug", "blog")
	s.want(p, "posts", "slug", "new-mugs", "content", fmt.Sprint(map[string]any{"body": "Here *they* are.\nBoth sizes.", "cover": map[string]any{"alt": "New mugs!", "url": ref}}))
	s.want(p, "images", "id", ref, "id", ref)
	s.press(m, "Publish")
	m = s.labelled("Unpublish", "New mugs!", "published", "Look at it")
	s.want(p, "posts", "slug", "new-mugs", "status", "published")
	s.press(m, "Unpublish")
	s.labelled("Publish", "New mugs!", "draft")
	s.want(p, "posts", "slug", "new-mugs", "status", "draft")
	s.noRun()
}

func postTwice(s *scene) {
	p := s.siteAs("owner")
	s.say("/post Neue Tassen für alle")
	s.labelled("Publish", "Neue Tassen für alle")
	s.Harness.Repeat(s.t)
	s.Handled()
	s.say("/post Neue Tassen für alle")
	s.eventually("second post", func() bool { return p.of("posts", "slug", "neue-tassen-fur-alle-2", "title") != nil })
	s.say("/post 新杯子")
	s.labelled("Publish", "新杯子")
	if n := p.count("posts"); n != 3 {
		s.t.Errorf("%d posts, want 3", n)
	}
	s.say("/post")
	s.AwaitText(s.room, "Write the title behind /post")
	s.Handled()
	if n := p.count("posts"); n != 3 {
		s.t.Errorf("%d posts after an empty command, want 3", n)
	}
}

func postOfReply(s *scene) {
	p := s.siteAs("author")
	photo := s.send(Post{Files: []File{green()}})
	s.Handled()
	s.send(Post{Text: "/post A green thing", ReplyTo: photo})
	s.labelled("Publish", "A green thing")
	cover, _ := p.of("posts", "slug", "a-green-thing", "content").(map[string]any)
	if fmt.Sprint(cover["cover"]) != fmt.Sprint(map[string]any{"alt": "A green thing", "url": s.refOf(green())}) {
		s.t.Errorf("the cover is %v", cover)
	}
}

func siteWithoutRole(s *scene) {
	p := s.siteAs("none")
	s.send(Post{Text: "/post New mugs", Files: []File{red()}})
	s.AwaitText(s.room, "You have no role in the site")
	s.say("/site")
	s.until(s.room, "second answer", func(list []Seen) bool {
		n := 0
		for _, m := range list {
			if m.contains("You have no role in the site") {
				n++
			}
		}
		return n == 2
	})
	s.Handled()
	if n := p.count("posts") + p.count("images"); n != 0 {
		s.t.Errorf("%d things were made", n)
	}
	for _, m := range s.Harness.Messages(s.t, s.room) {
		if m.shows("Pages") {
			s.t.Errorf("the menu is shown: %q", m.Text)
		}
	}
}

func siteAuthorPublishes(s *scene) {
	p := s.siteAs("author")
	s.say("/post New mugs")
	s.press(s.labelled("Publish", "New mugs"), "Publish")
	s.AwaitText(s.room, "for an editor")
	s.want(p, "posts", "slug", "new-mugs", "status", "draft")
}

func siteLists(s *scene) {
	p := s.siteAs("editor")
	posts, _ := siteToolOf("getPost")
	page := 8
	if menus := s.Caps.Menus; menus.PerMessage > 0 {
		page = menus.Options
	}
	all := page + 4
	for i := range all {
		p.put(posts, map[string]any{"slug": fmt.Sprint("post-", i), "title": fmt.Sprint("Post ", i), "status": "draft"})
	}
	newest, onPage, count := fmt.Sprint("Post ", all-1), "Post 3", fmt.Sprint("There are ", all)
	s.say("/site")
	m := s.labelled("Pages", "The site", "You are an editor")
	s.press(m, "Posts")
	m = s.labelled(newest, "Posts", count)
	s.press(m, "Next ›")
	m = s.labelled(onPage, count)
	s.press(m, onPage)
	m = s.labelled("Edit", onPage, "draft")
	s.press(m, "Back")
	m = s.labelled(onPage, count)
	s.press(m, "‹ Previous")
	s.press(s.labelled(newest), "Back")
	m = s.labelled("Pages", "The site")
	s.press(m, "Pages")
	s.press(s.labelled("About us", "There is one."), "About us")
	s.labelled("Publish", "About us", "Preview")
	s.noRun()
}

func siteEdits(s *scene) {
	p := s.siteAs("editor")
	s.send(Post{Text: "/post New mugs\nOld text", Files: []File{red()}})
	m := s.labelled("Edit", "New mugs")
	if s.Caps.Forms.Fields > 0 {
		s.fill(m, s.press(m, "Edit"), map[string]string{"Text": "New text"})
	} else {
		s.press(m, "Edit")
		m = s.labelled("Text", "What do you want to change?")
		s.press(m, "Text")
		s.AwaitText(s.room, "What should Text be now?", "Old text")
		s.say("New text")
	}
	s.labelled("Publish", "New text")
	content, _ := p.of("posts", "slug", "new-mugs", "content").(map[string]any)
	if content["body"] != "New text" || content["cover"] == nil {
		s.t.Errorf("the content is %v", content)
	}
	s.want(p, "posts", "slug", "new-mugs", "title", "New mugs")
	s.want(p, "posts", "slug", "new-mugs", "category", "<nil>")
}

func siteDeletes(s *scene) {
	p := s.siteAs("editor")
	s.say("/post New mugs")
	m := s.labelled("Delete", "New mugs")
	s.press(m, "Delete")
	m = s.labelled("Delete", "Delete New mugs?")
	if _, err := p.Use(s.t.Context(), "", "", "updatePost", map[string]any{"slug": "new-mugs", "title": "Newer mugs"}); err != nil {
		s.t.Fatal(err)
	}
	s.press(m, "Delete")
	m = s.labelled("Delete", "it was changed since", "Delete Newer mugs?")
	if p.count("posts") != 1 {
		s.t.Error("it was deleted although it was changed since")
	}
	s.press(m, "Delete")
	s.AwaitText(s.room, "Deleted. For 30 days")
	if p.count("posts") != 0 {
		s.t.Error("it was not deleted")
	}
}

func sitePagePublished(s *scene) {
	p := s.siteAs("editor")
	s.say("/site")
	s.press(s.labelled("Pages", "The site"), "Pages")
	s.press(s.labelled("About us", "There is one."), "About us")
	s.press(s.labelled("Publish", "About us"), "Publish")
	m := s.labelled("Unpublish", "About us", "published")
	s.want(p, "sections", "pageSectionId", "s1", "status", "published")
	s.press(m, "Unpublish")
	s.labelled("Publish", "About us")
	s.want(p, "sections", "pageSectionId", "s1", "status", "unpublished")
}

func siteTools(s *scene) {
	s.siteAs("owner")
	made := tool("createEntry", "Create an entry", registry.InputField{Name: "title", Type: registry.TypeString, Required: true, Description: "What it is called."})
	made.CommandName, made.Kind, made.Metadata = "", "content", map[string]any{"menu": false}
	made.Execution.Capability = registry.CapabilityWrite
	s.with(made)
	s.say("/site")
	s.press(s.labelled("All tools", "The site"), "All tools")
	m := s.labelled("Create an entry", "Tools of the site")
	if m.shows("Painter") {
		s.t.Errorf("a tool of another service is shown: %v", m.Buttons)
	}
	s.press(m, "Create an entry")
	s.AwaitText(s.room, "Create an entry", "title", "What it is called.")
	s.say("Mug")
	s.input(s.Call(0), "title", "Mug")
}

func resultIntoSite(s *scene) {
	p := s.siteAs("editor")
	s.say("/post New mugs\nText")
	s.labelled("Publish", "New mugs")
	m := s.painted()
	picture := s.refOfPainted()
	s.press(m, "Use in…")
	m = s.labelled("Cover: New mugs", "Where should the picture go?")
	s.press(m, "Cover: New mugs")
	s.AwaitText(s.room, "The picture is in its place", "New mugs")
	s.want(p, "posts", "slug", "new-mugs", "featuredImage", picture)
	s.want(p, "posts", "slug", "new-mugs", "content", fmt.Sprint(map[string]any{"body": "Text", "cover": map[string]any{"alt": "a red bicycle", "url": picture}}))
	s.press(s.AwaitMedia(s.room, "a red bicycle"), "Use in…")
	m = s.labelled("About us, 1: hero", "Where should the picture go?")
	s.press(m, "About us, 1: hero")
	s.AwaitText(s.room, "The picture is in its place", "About us")
	s.want(p, "sections", "pageSectionId", "s1", "imageId", picture)
	s.want(p, "sections", "pageSectionId", "s1", "imageField", "image")
}

func resultWithoutSite(s *scene) {
	s.siteAs("none")
	if m := s.painted(); m.Has("Use in…") {
		s.t.Errorf("somebody without a role has the button: %v", m.Buttons)
	}
}

func siteInGerman(s *scene) {
	s.siteAs("editor")
	s.say("/language de")
	s.AwaitText(s.room, "Deutsch")
	s.say("/post Neue Tassen")
	m := s.labelled("Veröffentlichen", "Dein Entwurf ist fertig", "Entwurf", "Vorschau")
	s.press(m, "Veröffentlichen")
	s.labelled("Zurückziehen", "veröffentlicht")
}

// shownIn waits for a message in a room with a label and words, the last one if there are several.
func (s *scene) shownIn(room Room, label string, words ...string) Seen {
	s.t.Helper()
	return s.Await(room, label, func(m Seen) bool {
		return m.Has(label) && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(m.Text, word) })
	})
}

func groupSite(s *scene) {
	group := s.group() // Anna runs it
	if group.none() {
		return
	}
	p := s.siteAs("none")
	in := func(who Person, text string) { s.Harness.Post(s.t, Post{From: who, In: group, Text: text}) }
	in(s.ben, "/site")
	s.Await(group, "no way for a member", func(m Seen) bool {
		return strings.Contains(m.Text, "You have no role") && !m.Has("Switch on a site for this group")
	})
	in(s.anna, "/site")
	m := s.shownIn(group, "Switch on a site for this group", "This group can have a site")
	s.Harness.Press(s.t, s.anna, group, m.ID, "Switch on a site for this group")
	m = s.shownIn(group, "Members: write drafts", "Painters", "You are an editor")

	in(s.ben, "/post Ben was here")
	draft := s.shownIn(group, "Publish", "Ben was here")
	s.Harness.Press(s.t, s.ben, group, draft.ID, "Publish")
	s.AwaitText(group, "for an editor")
	if g := p.in(groupSlug); g.count("posts") != 1 || p.count("posts") != 0 {
		s.t.Errorf("the group has %d posts, the house %d", g.count("posts"), p.count("posts"))
	}
	in(s.anna, "/post Anna too")
	own := s.shownIn(group, "Publish", "Anna too")
	s.Harness.Press(s.t, s.anna, group, own.ID, "Publish")
	s.shownIn(group, "Unpublish", "Anna too", "published")

	s.Harness.Press(s.t, s.anna, group, m.ID, "Members: write drafts")
	m = s.shownIn(group, "Members: change everything")
	s.Harness.Press(s.t, s.ben, group, draft.ID, "Publish")
	s.shownIn(group, "Unpublish", "Ben was here", "published")
	s.Harness.Press(s.t, s.anna, group, m.ID, "Members: change everything")
	m = s.shownIn(group, "Members: only read")
	in(s.ben, "/post Not any more")
	s.eventually("a refusal", func() bool { return p.in(groupSlug).count("posts") == 2 })

	in(s.anna, "/painter a cat")
	if got := s.Call(0).Context.SiteID; got != groupSlug {
		s.t.Errorf("a run in the group is for the site %q", got)
	}

	s.Harness.Press(s.t, s.anna, group, m.ID, "Switch off")
	s.shownIn(group, "Switch on a site for this group", "Nothing of it is lost")
	s.Harness.Press(s.t, s.anna, group, own.ID, "Unpublish") // the buttons of what is off do nothing
	s.Handled()
	s.want(p.in(groupSlug), "posts", "slug", "anna-too", "status", "published")
	in(s.anna, "/post To whom")
	s.Handled()
	if n := p.count("posts") + p.in(groupSlug).count("posts"); n != 2 {
		s.t.Errorf("%d posts, want the two of before", n)
	}
}

func noSite(s *scene) {
	p := s.siteAs("owner")
	s.say("/post New mugs")
	m := s.labelled("Publish", "New mugs")
	s.Site = nil
	s.Restart()
	s.press(m, "Publish")
	s.Handled()
	s.want(p, "posts", "slug", "new-mugs", "status", "draft")
	s.eventually("command list without the site", func() bool {
		names := s.Harness.Commands(s.t, chat.ChatPrivate)
		return len(names) > 0 && !slices.Contains(names, "post") && !slices.Contains(names, "site")
	})
}
