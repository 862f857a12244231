package canvas

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// functions are the tools that look things up and calculate.
func functions() []operation {
	list := []operation{
		{id: "get-user-data", name: "getUserData", title: "User", run: userData, failure: "Failed to get user data",
			description: "Tells who is drawing: id, name and, where it is known, e-mail. Use it to address people or to sign a design."},
		{id: "get-project-data", name: "getProjectData", title: "Project", run: projectData, failure: "Failed to get project data",
			description: "Tells what the drawing has: name and id, pages, the shapes of the page with their ids, fonts, and the palette of colours in use. Use it before editing."},
		{id: "get-available-fonts", name: "getAvailableFonts", title: "Fonts", run: allFonts, failure: "Failed to get fonts",
			description: "Lists the font families that texts can have. Use it before a text is written in a certain font."},
		{id: "get-board-sizes", name: "getBoardSizes", title: "Board sizes", run: boardSizes, failure: "Failed to get board sizes",
			description: "Lists the usual sizes of boards: iPhone 14, iPhone 14 Plus, Android, tablet, desktop. Use it before a board is made."},
		{id: "calculate-responsive-sizes", name: "calculateResponsiveSizes", title: "Responsive sizes", inputs: "baseSize! scaleRatio", run: responsiveSizes, failure: "Failed to calculate sizes",
			description: "Calculates sizes for screens from a base size and a ratio: mobile (320-480 px), tablet (481-768 px), desktop (769-1024 px), large desktop (from 1025 px). Use it for font sizes and spacing."},
		{id: "get-current-page", name: "getCurrentPage", title: "Page", run: currentPage, failure: "Failed to get page",
			description: "Gives the page with its tree of shapes, its components and flows. Use it to find shapes and their ids."},
		{id: "get-fonts", name: "getFonts", title: "Find fonts", inputs: "query! limit", run: findFonts, failure: "Failed to get fonts",
			description: "Finds font families by a part of their name. Use it to choose a fontFamily."},
		{id: "get-selected-shapes", name: "getSelectedShapes", title: "Selection", run: selection, failure: "Failed to get selection",
			description: "Gives the ids of the shapes that are selected in the editor, maybe none. Use it when somebody says: this one."},
		{id: "get-device-size-presets", name: "getDeviceSizePresets", title: "Device sizes", inputs: "category", run: devices, failure: "Failed to get device sizes",
			description: "Lists the sizes of devices, of paper and of pictures for social media, by category. Use it before a board is made."},
	}
	for i := range list {
		list[i].kind, list[i].reads = function, true
	}
	return list
}

func userData(t *turn) (reply, error) {
	p, err := t.User(t.ctx, t.account)
	if err != nil {
		return reply{}, err
	}
	payload := map[string]any{"id": p.ID, "name": p.Name}
	if p.Email != "" {
		payload["email"] = p.Email
	}
	return reply{message: "User data retrieved", payload: payload}, nil
}

func projectData(t *turn) (reply, error) {
	page := map[string]any{"id": "page", "name": t.pageName()}
	return reply{message: "Project data retrieved", payload: map[string]any{
		"id": t.id, "name": t.pageName(), "pages": []any{page}, "shapes": t.scene.Views(), "fonts": t.Fonts.Families(), "palette": t.palette(),
	}}, nil
}

func (t *turn) pageName() string {
	if t.scene.Page.Name != "" {
		return t.scene.Page.Name
	}
	return "Drawing"
}

// palette are the colours in use, the most frequent first.
func (t *turn) palette() []string {
	uses := map[string]int{}
	for _, sh := range t.scene.All() {
		for _, f := range sh.Fills {
			uses[f.Color]++
		}
		for _, s := range sh.Strokes {
			uses[s.Color]++
		}
	}
	delete(uses, "")
	colours := []string{}
	for c := range uses {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b string) int {
		if uses[a] != uses[b] {
			return uses[b] - uses[a]
		}
		return strings.Compare(a, b)
	})
	return colours
}

func allFonts(t *turn) (reply, error) {
	return reply{message: count(len(t.Fonts.Families()), "font"), payload: map[string]any{"fonts": t.Fonts.Families()}}, nil
}

// count says how many there are.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func findFonts(t *turn) (reply, error) {
	in, err := read[struct {
		Query string `json:"query"`
		Limit *int   `json:"limit"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	if strings.TrimSpace(in.Query) == "" {
		return reply{}, scene.Wrong("query", "is empty")
	}
	limit := 20
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 1 || limit > 20 {
		return reply{}, scene.Wrong("limit", "is %d, expected 1 to 20", limit)
	}
	fonts := []map[string]string{}
	for _, f := range t.Fonts.Families() {
		if q := strings.ToLower(in.Query); (strings.Contains(strings.ToLower(f.Name), q) || f.Use == q) && len(fonts) < limit {
			fonts = append(fonts, map[string]string{"name": f.Name, "fontId": strings.ToLower(strings.ReplaceAll(f.Name, " ", "-")), "fontFamily": f.Name})
		}
	}
	return reply{message: count(len(fonts), "font"), payload: map[string]any{"fonts": fonts}}, nil
}

func responsiveSizes(t *turn) (reply, error) {
	in, err := read[struct {
		Base  float64  `json:"baseSize"`
		Ratio *float64 `json:"scaleRatio"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	ratio := 1.2
	if in.Ratio != nil {
		ratio = *in.Ratio
	}
	if !(ratio > 0) {
		return reply{}, scene.Wrong("scaleRatio", "is %g, expected more than 0", ratio)
	}
	if !(in.Base > 0) {
		return reply{}, scene.Wrong("baseSize", "is %g, expected more than 0", in.Base)
	}
	b := in.Base
	return reply{message: "Responsive sizes calculated", payload: map[string]any{
		"mobile": math.Round(b / ratio), "tablet": b, "desktop": math.Round(b * ratio), "largeDesktop": math.Round(b * ratio * ratio),
	}}, nil
}

// node is a shape in the tree of a page.
type node struct {
	scene.View
	Children []node `json:"children,omitempty"`
}

func (t *turn) tree(parent string) []node {
	list := []node{}
	for _, sh := range t.scene.Children(parent) {
		list = append(list, node{t.scene.View(sh), t.tree(sh.ID)})
	}
	return list
}

func currentPage(t *turn) (reply, error) {
	components := []map[string]any{}
	for _, sh := range t.scene.All() {
		if sh.Component {
			components = append(components, map[string]any{"id": sh.ID, "name": sh.Name})
		}
	}
	return reply{message: "Page retrieved", payload: map[string]any{
		"id": "page", "name": t.pageName(), "shapes": t.tree(""), "components": components, "flows": orEmpty(t.scene.Page.Flows),
	}}, nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// device is a size that boards often have.
type device struct {
	Name   string `json:"name"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// sizes are those of devices by category.
type sizes struct {
	Category string   `json:"category"`
	Count    int      `json:"count"`
	Presets  []device `json:"presets"`
}

func deviceSizes() []sizes {
	return []sizes{
		{Category: "APPLE", Presets: []device{{"iPhone 16", 393, 852}, {"iPhone 16 Pro", 402, 874}, {"iPhone 16 Pro Max", 440, 956}, {"iPhone 14", 390, 844}, {"iPhone 14 Plus", 428, 926}, {"iPhone SE", 320, 568},
			{"iPad", 768, 1024}, {"iPad Pro 11in", 834, 1194}, {"iPad Pro 12.9in", 1024, 1366}, {"Watch 45mm", 396, 484}, {"MacBook Air", 1280, 832}, {"MacBook Pro 14in", 1512, 982}}},
		{Category: "ANDROID", Presets: []device{{"Mobile", 360, 640}, {"Expanded", 1280, 800}, {"Android", 360, 800}, {"Google Pixel 7", 412, 915}, {"Samsung Galaxy S22", 360, 780}, {"Tablet", 768, 1024}}},
		{Category: "MICROSOFT", Presets: []device{{"Surface Pro 3", 1440, 960}, {"Surface Pro 4/5/6/7", 1368, 912}, {"Surface Pro 8", 1440, 960}}},
		{Category: "REMARKABLE", Presets: []device{{"Remarkable 2", 840, 1120}, {"Remarkable Pro", 1620, 2160}}},
		{Category: "WEB", Presets: []device{{"Web 1280", 1280, 800}, {"Web 1366", 1366, 768}, {"Web 1024", 1024, 768}, {"Web 1920", 1920, 1080}}},
		{Category: "MIXED", Presets: []device{{"Desktop/Wireframe", 1440, 1024}, {"TV", 1280, 720}, {"Slide 16:9", 1920, 1080}, {"Slide 4:3", 1027, 768}}},
		{Category: "PRINT", Presets: []device{{"A0", 3179, 4494}, {"A1", 2245, 3179}, {"A2", 1587, 2245}, {"A3", 1123, 1587}, {"A4", 794, 1123}, {"A5", 559, 794}, {"A6", 397, 559}, {"Letter", 816, 1054}, {"DIN Lang", 835, 413}}},
		{Category: "SOCIAL MEDIA", Presets: []device{{"Instagram profile", 320, 320}, {"Instagram post", 1080, 1350}, {"Instagram story", 1080, 1920}, {"Facebook profile", 720, 720}, {"Facebook cover", 820, 312}, {"Facebook post", 1200, 630},
			{"LinkedIn profile", 400, 400}, {"LinkedIn cover", 1584, 396}, {"LinkedIn post", 1200, 627}, {"X profile", 400, 400}, {"X header", 1500, 500}, {"X post", 1024, 512}, {"YouTube profile", 800, 800}, {"YouTube banner", 2560, 1440}, {"YouTube thumb", 1280, 720}}},
	}
}

func devices(t *turn) (reply, error) {
	in, err := read[struct {
		Category string `json:"category"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	all, chosen := deviceSizes(), []sizes{}
	names := make([]string, len(all))
	total := 0
	for i, s := range all {
		names[i] = s.Category
		if in.Category == "" || strings.EqualFold(in.Category, s.Category) {
			s.Count = len(s.Presets)
			total += s.Count
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return reply{}, scene.Wrong("category", "is %q, expected one of %s", in.Category, strings.Join(names, ", "))
	}
	return reply{message: count(total, "preset"), payload: map[string]any{"categories": chosen, "count": total}}, nil
}

func boardSizes(*turn) (reply, error) {
	list := []device{{"iPhone 14", 390, 844}, {"iPhone 14 Plus", 428, 926}, {"Android", 360, 800}, {"tablet", 768, 1024}, {"desktop", 1920, 1080}}
	return reply{message: "5 sizes", payload: map[string]any{"sizes": list}}, nil
}
