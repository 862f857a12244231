// Package contenttest has a site for tests: tools and tables as in the program, with accounts of each role.
package contenttest

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"maps"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/test/housetest"
)

// The accounts.
const (
	Operator = "00000000-0000-4000-8000-000000000001" // owns the house's site
	Editor   = "00000000-0000-4000-8000-000000000002"
	Author   = "00000000-0000-4000-8000-000000000003"
	Stranger = "00000000-0000-4000-8000-000000000004" // has no role
)

// House is a site with its tools.
type House struct {
	*content.Provider
	Store     *store.Store
	Site      store.Site
	Pool      *pgxpool.Pool
	Templates *layout.Set
	Files     housetest.Files
	Prompts   map[registry.Media]string // of files that runs made
	t         testing.TB
	tools     []registry.Tool
	slugs     atomic.Int64
}

// New makes a house with an empty site.
func New(t testing.TB, change ...func(*content.Config)) *House {
	t.Helper()
	pool := postgrestest.New(t)
	templates, err := layout.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &House{Prompts: map[registry.Media]string{}, Store: store.New(pool), Pool: pool, Templates: templates, Files: housetest.NewFiles(t, pool), t: t}
	cfg := content.Config{
		Store: h.Store, Templates: templates, Files: h.Files, Links: func(slug string) content.Links { return links(slug) },
		Operator: func(_ context.Context, account string) (bool, error) { return account == Operator, nil },
		Owned: func(ctx context.Context, account string, ref registry.Media) (bool, error) {
			foreign, err := assets.Foreign(ctx, pool, account, []string{assets.Ref(ref).Hash()})
			return !foreign, err
		},
		Link: func(ref registry.Media, name string) string {
			return "/uploads/00/" + strings.TrimPrefix(ref, "asset:") + "/" + path.Base(name)
		},
		Made: func(_ context.Context, _ string, ref registry.Media) (prompt, tool string, err error) {
			return h.Prompts[ref], "", nil
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	h.Provider = content.New(cfg)
	if h.Site, err = h.Store.Site(t.Context(), store.House); err != nil {
		t.Fatal(err)
	}
	for account, role := range map[string]store.Role{Editor: store.Editor, Author: store.Author} {
		if err := h.Store.SetRole(t.Context(), h.Site, account, role); err != nil {
			t.Fatal(err)
		}
	}
	if h.tools, err = h.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// links are addresses in the site with a slug.
type links string

func (l links) root() string {
	if l == store.House {
		return "/site/"
	}
	return "/site/" + string(l) + "/"
}

func (l links) Page(slug string) string              { return l.root() + slug }
func (l links) Entry(collection, slug string) string { return l.root() + collection + "/" + slug }
func (l links) Preview(kind, id string) string       { return l.root() + "preview/" + kind + "/" + id }
func (l links) Proposed(link, _ string) string       { return link }

// Object is a JSON object.
type Object = map[string]any

// Tool gives a tool's definition.
func (h *House) Tool(id string) registry.Tool {
	h.t.Helper()
	i := slices.IndexFunc(h.tools, func(t registry.Tool) bool { return t.ToolID == id })
	if i < 0 {
		h.t.Fatalf("there is no tool %s", id)
	}
	return h.tools[i]
}

// Prepare makes a call of an account as runs would: inputs are checked by the tool's schema.
func (h *House) Prepare(account, tool string, inputs Object) (registry.Call, error) {
	h.t.Helper()
	c := registry.Call{Tool: h.Tool(tool), UserID: account, Inputs: Object{}, Media: h.Files}
	raw, err := json.Marshal(inputs)
	if err != nil {
		h.t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var given Object
	if err := d.Decode(&given); err != nil {
		h.t.Fatal(err)
	}
	for name, value := range given {
		f, known := c.Tool.InputSchema.Get(name)
		if known && value != nil {
			checked, refused := registry.CheckValue(f, value)
			if refused != nil {
				return c, refused
			}
			value = checked
		}
		c.Inputs[name] = value
	}
	return c, nil
}

// As calls a tool in the name of an account and gives its answer.
func (h *House) As(account, tool string, inputs Object) (Object, error) {
	h.t.Helper()
	c, err := h.Prepare(account, tool, inputs)
	if err != nil {
		return nil, err
	}
	return h.Carry(c)
}

// Carry carries out a call, and checks that its answer is what the tool declares.
func (h *House) Carry(c registry.Call) (Object, error) {
	h.t.Helper()
	result, err := h.Call(h.t.Context(), c)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(result.Outputs[0].Text))
	d.UseNumber()
	var answer Object
	if err := d.Decode(&answer); err != nil {
		h.t.Fatal(err)
	}
	schema, err := registry.ParseSchema(c.Tool.OutputSchema[0].Schema)
	if err == nil {
		err = schema.Check(answer)
	}
	if err != nil {
		h.t.Errorf("%s: the answer is not as declared: %v: %s", c.Tool.ToolID, err, result.Outputs[0].Text)
	}
	return answer, nil
}

// Do calls a tool in the operator's name, which has to succeed.
func (h *House) Do(tool string, inputs Object) Object {
	h.t.Helper()
	answer, err := h.As(Operator, tool, inputs)
	if err != nil {
		h.t.Fatalf("%s %v: %v", tool, inputs, err)
	}
	return answer
}

// Items are the items of a get in the operator's name.
func (h *House) Items(tool string, inputs Object) []Object {
	h.t.Helper()
	answer := h.Do(tool, inputs)
	list, ok := answer["items"].([]any)
	if count := answer["count"].(json.Number); !ok || answer["success"] != true || count.String() != json.Number(itoa(len(list))).String() {
		h.t.Fatalf("%s: %v is no list of items", tool, answer)
	}
	items := []Object{}
	for _, item := range list {
		items = append(items, item.(Object))
	}
	return items
}

func itoa(n int) string { text, _ := json.Marshal(n); return string(text) }

// Page creates a page and gives its id.
func (h *House) Page(slug string, more ...Object) string {
	h.t.Helper()
	inputs := Object{"name": strings.ToUpper(slug[:1]) + slug[1:], "slug": slug}
	for _, m := range more {
		maps.Copy(inputs, m)
	}
	return h.Do("createPage", inputs)["pageId"].(string)
}

// Section creates a section and gives its id.
func (h *House) Section(page, template string, content Object, more ...Object) string {
	h.t.Helper()
	inputs := Object{"pageId": page, "templateKey": template, "content": content}
	for _, m := range more {
		maps.Copy(inputs, m)
	}
	return h.Do("createSection", inputs)["pageSectionId"].(string)
}

// Picture stores a picture of a size, each n another one, and gives its reference.
func (h *House) Picture(name string, width, height, n int) string {
	h.t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.Set(x, y, color.NRGBA{uint8(x * 255 / width), uint8(y * 255 / height), uint8(n * 40), 255})
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		h.t.Fatal(err)
	}
	ref, _, err := h.Files.Keep(h.t.Context(), &file, assets.Meta{Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	return ref
}

// Image brings a picture into the site and gives its id.
func (h *House) Image(name string, n int) string {
	h.t.Helper()
	return h.Do("createImage", Object{"buffer": h.Picture(name, 64, 48, n), "filename": name})["imageId"].(string)
}

// Slug gives a slug that was not given before.
func (h *House) Slug() string { return "slug-" + itoa(int(h.slugs.Add(1))) }
