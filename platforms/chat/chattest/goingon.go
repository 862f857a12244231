package chattest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// goingOn are the ways to go on with a result, and to say which of several pictures is which.
func goingOn() map[string]func(*scene) {
	return map[string]func(*scene){
		"a set has each picture by itself and another like it, in two rows":      pictureSet,
		"one picture of a set is varied, enlarged and sent by itself":            oneOfASet,
		"one picture of a set is varied by its own inputs":                       oneByItsOwnInputs,
		"a set whose pictures nothing varies one by one is made anew":            setAnew,
		"sets of six, eight, nine and ten have buttons for each picture":         largerSets,
		"Vary of one picture makes one like it":                                  onePictureVaried,
		"Vary works as often as one likes":                                       varyOften,
		"weaker and stronger go on from each result":                             weakerAndStronger,
		"tools that follow have buttons, and their words go along":               followingTools,
		"Edit prompt opens what was said and runs the change":                    editPrompt,
		"Edit prompt keeps a seed that was chosen and draws one that was drawn":  editPromptSeed,
		"of several pictures it is asked which is which where order tells not":   whichPicture,
		"pictures are told apart by number, and swapped by a button":             picturesByNumber,
		"a result that comes late notifies who waits for it, and nobody else":    latePing,
		"a button of a tool that is gone says so, and works when it is back":     followingToolGone,
		"one picture of a set that is deleted leaves the set and its run alone":  deleteOneOfASet,
		"buttons that have no room under a set are a press away, and back again": moreOfASet,
	}
}

// follower is a tool that takes a picture.
func follower(id, name, category, gives string, inputs ...registry.InputField) registry.Tool {
	t := fileTool(id, name, true, true, append([]registry.InputField{media("image", registry.TypeImage, true)}, inputs...)...)
	t.Category, t.OutputSchema = category, registry.OutputSchema{{Name: "picture", Type: gives}}
	return t
}

// followers are tools that go on with a picture in each way there is.
func followers() []registry.Tool {
	prompt := registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true}
	redraw := follower("redraw", "Redraw", "image-to-image", "image", prompt, registry.InputField{Name: "denoise", Type: registry.TypeNumber, Min: "0", Max: "1", Step: "0.01"},
		registry.InputField{Name: "seed", Type: registry.TypeNumber, Integer: true, Seed: true, Advanced: true})
	grow := follower("grow", "Grow", "toys", "image")
	grow.Follows = registry.FollowUpscale
	return []registry.Tool{
		redraw, grow, follower("move", "Move", "image-to-video", "video", prompt),
		follower("instruct", "Instruct", "image-editing", "image", registry.InputField{Name: "instruction", Type: registry.TypeString, Required: true}),
	}
}

// with makes these tools the house's, beside the painter.
func (s *scene) with(tools ...registry.Tool) {
	s.t.Helper()
	s.Loader.Set(append([]registry.Tool{PainterTool()}, tools...)...)
	s.Reload()
}

// shade is a picture that is told from others by its size.
func shade(n int) registry.Output {
	info := registry.MediaInfo{Name: fmt.Sprint("shade", n, ".png"), MIMEType: "image/png"}
	return registrytest.File("picture", "image", info, Picture(16+n, 16, color.NRGBA{G: 200, A: 255}))
}

// paintedSet runs the painter to a set of four and gives the message with the buttons.
func (s *scene) paintedSet() Seen {
	s.t.Helper()
	n := s.CountRuns()
	s.say("/painter a red bicycle seed=7")
	s.Succeed(s.Call(n), shade(1), shade(2), shade(3), shade(4))
	m := s.labelled("U4", "Painter", "a red bicycle")
	s.Idle()
	return m
}

// output gives the reference of an output of the newest run that has succeeded.
func (s *scene) output(n int) string { return s.LastRun().Outputs[n].Media }

func (s *scene) wantButtons(m Seen, want string) {
	s.t.Helper()
	var rows []string
	for _, row := range m.Buttons {
		rows = append(rows, strings.Join(row, " "))
	}
	if got := strings.Join(rows, " | "); got != want {
		s.t.Errorf("the buttons are %q, want %q", got, want)
	}
}

func pictureSet(s *scene) {
	s.with(followers()...)
	m := s.paintedSet()
	s.wantButtons(m, "U1 U2 U3 U4 Again | V1 V2 V3 V4 More…")
	if !m.contains("U1–U4", "V1–V4") {
		s.t.Errorf("nothing says what the buttons do: %q", m.Text)
	}
	seen := 0
	for _, one := range s.Harness.Messages(s.t, s.room) {
		if one.Media != nil {
			seen++
		}
	}
	if seen != 4 {
		s.t.Errorf("%d of four pictures are shown", seen)
	}
}

func setAnew(s *scene) {
	m := s.paintedSet()
	s.wantButtons(m, "U1 U2 U3 U4 Again | Vary More…")
	s.press(m, "Vary")
	vary := s.Call(1)
	s.input(vary, "prompt", "a red bicycle")
	if fmt.Sprint(vary.Inputs["seed"]) == "7" {
		s.t.Error("Vary kept the seed")
	}
	s.Succeed(vary, shade(5), shade(6), shade(7), shade(8)) // of its drawn seed, Again makes another
	m = s.labelled("U4", "Painter", "a red bicycle", fmt.Sprint("seed ", vary.Inputs["seed"]))
	s.wantButtons(m, "U1 U2 U3 U4 Again | More…")
	s.press(m, "More…")
	s.labelled("Delete", "Painter", "a red bicycle", fmt.Sprint("seed ", vary.Inputs["seed"]))
}

// oneByItsOwnInputs varies a picture by a tool that takes none: with what the picture was made of, and a seed of small changes.
func oneByItsOwnInputs(s *scene) {
	number := func(name string, role registry.InputRole, change func(*registry.InputField)) registry.InputField {
		f := registry.InputField{Name: name, Type: registry.TypeNumber, Role: role, Advanced: true}
		change(&f)
		return f
	}
	painter := PainterTool()
	painter.InputSchema = append(painter.InputSchema,
		number("only", registry.RolePicture, func(f *registry.InputField) { f.Integer, f.Default = true, json.Number("0") }),
		number("subseed", registry.RoleVariation, func(f *registry.InputField) { f.Integer, f.Seed = true, true }),
		number("far", registry.RoleStrength, func(f *registry.InputField) { f.Min, f.Max, f.Default = "0", "0.4", json.Number("0") }))
	s.Loader.Set(painter)
	s.Reload()
	m := s.paintedSet()
	s.wantButtons(m, "U1 U2 U3 U4 Again | V1 V2 V3 V4 More…")
	first := s.Call(0)
	s.press(m, "V3")
	third := s.Call(1)
	for name, want := range map[string]string{"prompt": "a red bicycle", "seed": "7", "only": "3", "far": "0.2"} {
		s.input(third, name, want)
	}
	if fmt.Sprint(third.Inputs["subseed"]) == fmt.Sprint(first.Inputs["subseed"]) {
		s.t.Error("V3 has the small changes of the set")
	}
	s.press(m, "U2")
	one := s.AwaitMedia(s.room, "Picture 2 of 4")
	s.press(one, "Stronger")
	s.input(s.Call(2), "only", "2")
}

func largerSets(s *scene) {
	s.with(followers()...)
	for _, want := range []string{
		"U1 U2 U3 U4 | U5 U6 Again | V1 V2 V3 V4 | V5 V6 More…",
		"U1 U2 U3 U4 U5 | U6 U7 U8 Again | V1 V2 V3 V4 V5 | V6 V7 V8 More…",
		"U1 U2 U3 U4 U5 | U6 U7 U8 U9 Again | V1 V2 V3 V4 V5 | V6 V7 V8 V9 More…",
		"U1 U2 U3 U4 U5 | U6 U7 U8 U9 U10 | V1 V2 V3 V4 V5 | V6 V7 V8 V9 V10 | Again More…",
	} {
		n, runs := strings.Count(want, "U"), s.CountRuns()
		s.say("/painter a red bicycle")
		var set []registry.Output
		for i := range n {
			set = append(set, shade(i))
		}
		s.Succeed(s.Call(runs), set...)
		last := fmt.Sprint("U", n)
		m := s.labelled(last, "Painter", "a red bicycle")
		s.wantButtons(m, want)
		newest := s.output(n - 1)
		s.press(m, last)
		s.AwaitMedia(s.room, fmt.Sprintf("Picture %d of %d", n, n))
		s.press(m, fmt.Sprint("V", n))
		s.input(s.Call(runs+1), "image", newest)
	}
}

func oneOfASet(s *scene) {
	s.with(followers()...)
	m := s.paintedSet()
	third := s.output(2)
	s.press(m, "U3")
	one := s.AwaitMedia(s.room, "Painter", "Picture 3 of 4")
	if want := Picture(19, 16, color.NRGBA{G: 200, A: 255}); string(one.Media.Data) != string(want) {
		s.t.Errorf("U3 shows a picture of %d bytes, want %d", len(one.Media.Data), len(want))
	}
	s.wantButtons(one, "Again Vary Weaker Stronger Upscale | Animate Edit prompt Original file Use with… Delete")
	s.press(one, "Vary")
	vary := s.Call(1)
	s.input(vary, "image", third)
	s.input(vary, "prompt", "a red bicycle")
	s.input(vary, "denoise", "0.5")
	s.press(one, "Upscale")
	s.input(s.Call(2), "image", third)
	s.press(one, "Original file")
	s.Await(s.room, "the third picture as a file", func(m Seen) bool { return m.Media != nil && m.Media.Name == "shade3.png" && m.ID != one.ID })
	s.press(m, "V1")
	first := s.Call(3)
	if s.input(first, "denoise", "0.5"); first.Inputs["image"] == third {
		s.t.Error("V1 varies the third picture")
	}
}

func varyOften(s *scene) {
	m := s.painted("seed=7")
	s.press(m, "Vary")
	s.Call(1)
	s.press(m, "Vary") // a double press
	s.Handled()
	if n := s.CountRuns(); n != 2 {
		s.t.Errorf("%d runs after a double press, want 2", n)
	}
	if _, err := s.Pool.Exec(s.t.Context(), `UPDATE chat_keyboards SET used = '{"vary@": "2020-01-01T00:00:00.000 then"}' WHERE used ? 'vary@'`); err != nil {
		s.t.Fatal(err)
	}
	s.press(m, "Vary")
	s.input(s.Call(2), "prompt", "a red bicycle")
}

func onePictureVaried(s *scene) {
	s.with(followers()...)
	m := s.painted()
	s.press(m, "Vary")
	byTool := s.Call(1)
	s.input(byTool, "image", s.refOfPainted())
	s.input(byTool, "prompt", "a red bicycle")
	s.with()
	painter := PainterTool()
	painter.InputSchema = append(painter.InputSchema, registry.InputField{Name: "subseed", Type: registry.TypeNumber, Role: registry.RoleVariation, Integer: true, Seed: true})
	s.Loader.Set(painter)
	s.Reload()
	s.say("/painter a cat")
	first := s.Call(2)
	s.Succeed(first, PictureOutput("picture"))
	s.press(s.AwaitMedia(s.room, "a cat", "Again, Vary: under $0.01"), "Vary")
	vary := s.Call(3)
	s.input(vary, "seed", fmt.Sprint(first.Inputs["seed"]))
	if fmt.Sprint(vary.Inputs["subseed"]) == fmt.Sprint(first.Inputs["subseed"]) {
		s.t.Error("the seed of small changes is the same")
	}
}

func weakerAndStronger(s *scene) {
	s.with(followers()...)
	m := s.painted()
	s.press(m, "Weaker")
	weaker := s.Call(1)
	s.input(weaker, "denoise", "0.3")
	s.input(weaker, "image", s.refOfPainted())
	s.press(m, "Stronger")
	s.input(s.Call(2), "denoise", "0.7")
	s.Succeed(weaker, shade(1))
	again := s.AwaitMedia(s.room, "Redraw", "strength 0.3")
	s.press(again, "Weaker")
	second := s.Call(3)
	s.input(second, "denoise", "0.18")
	s.input(second, "prompt", "a red bicycle")
	if second.Inputs["image"] == weaker.Inputs["image"] || fmt.Sprint(second.Inputs["seed"]) == fmt.Sprint(weaker.Inputs["seed"]) {
		s.t.Errorf("the second is made of %v", second.Inputs)
	}
}

// refOfPainted is the reference of the picture that painted gives.
func (s *scene) refOfPainted() string {
	return s.refOf(File{Name: "picture.png", Data: Picture(16, 16, color.NRGBA{R: 200, A: 255})})
}

func followingTools(s *scene) {
	s.with(followers()...)
	m := s.painted()
	picture := s.refOfPainted()
	if len(m.Buttons) != 2 || len(m.Buttons[0]) > 5 || len(m.Buttons[1]) > 5 {
		s.t.Errorf("the buttons are %v, want two rows of at most five", m.Buttons)
	}
	s.press(m, "Upscale")
	s.input(s.Call(1), "image", picture)
	s.press(m, "Animate")
	move := s.Call(2)
	s.input(move, "image", picture)
	s.input(move, "prompt", "a red bicycle")
	s.with(followers()[3])
	s.say("/painter a cat")
	s.Succeed(s.Call(3), PictureOutput("picture"))
	m = s.AwaitMedia(s.room, "a cat")
	s.press(m, "Edit…")
	asked := s.AwaitText(s.room, "Instruct", "instruction")
	s.Handled()
	if s.Caps.Forms.Fields > 0 && !asked.Has("Answer") { // in groups such platforms tell the bot of no other answer
		s.t.Errorf("the question can't be answered in groups: %v", asked.Buttons)
	}
	s.say("make it blue")
	edit := s.Call(4)
	s.input(edit, "image", picture)
	s.input(edit, "instruction", "make it blue")
	if !strings.Contains(asked.Text, "for this result") {
		s.t.Errorf("the question does not say what it is about: %q", asked.Text)
	}
	if strings.Contains(asked.Text, "a red bicycle") {
		s.t.Errorf("the question repeats other words: %q", asked.Text)
	}
}

// change presses Edit prompt and says something else.
func (s *scene) change(m Seen, was, is string) {
	s.t.Helper()
	opened := s.press(m, "Edit prompt")
	if s.Caps.Forms.Fields == 0 {
		s.labelled("Cancel", "Painter", was)
		s.Handled()
		s.say(is)
		return
	}
	if opened.Form == nil || opened.Form.Fields[0].Value != was {
		s.t.Fatalf("Edit prompt opens %+v", opened.Form)
	}
	s.fill(m, opened, map[string]string{"prompt": is})
}

func editPrompt(s *scene) {
	s.say("/painter a red bicycle steps=7 style=ink")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	m := s.AwaitMedia(s.room, "a red bicycle")
	s.Idle()
	s.change(m, "a red bicycle", "a blue bicycle")
	c := s.Call(1)
	s.input(c, "prompt", "a blue bicycle")
	s.input(c, "steps", "7")
	s.input(c, "style", "ink")
	if run := s.LastRun(); run.Parent == "" {
		s.t.Error("the change does not know what it was made of")
	}
}

func editPromptSeed(s *scene) {
	s.say("/painter a cat")
	drawn := s.Call(0)
	s.Succeed(drawn, PictureOutput("picture"))
	m := s.AwaitMedia(s.room, "a cat")
	s.Idle()
	s.change(m, "a cat", "a dog")
	if fmt.Sprint(s.Call(1).Inputs["seed"]) == fmt.Sprint(drawn.Inputs["seed"]) {
		s.t.Error("a seed that was drawn was kept")
	}
	s.say("/painter a cow seed=18446744073709551615")
	s.Succeed(s.Call(2), PictureOutput("picture"))
	m = s.AwaitMedia(s.room, "a cow")
	s.change(m, "a cow", "a pig")
	c := s.Call(3)
	s.input(c, "prompt", "a pig")
	s.input(c, "seed", "18446744073709551615")
}

// transfer takes a picture, and two more that it can do without.
func transfer() registry.Tool {
	return fileTool("transfer", "Transfer", true, true,
		media("image", registry.TypeImage, true), media("style", registry.TypeImage, false), media("depth", registry.TypeImage, false))
}

func whichPicture(s *scene) {
	s.with(transfer())
	s.send(Post{Text: "/transfer", Files: []File{green(), red()}})
	asked := s.labelled("2", "Transfer", "which one is image")
	if asked.Has("None of them") || !asked.Has("Cancel") {
		s.t.Errorf("the question has %v", asked.Buttons)
	}
	s.showsSmall(asked, green(), red())
	s.press(asked, "2")
	asked = s.labelled("None of them", "Transfer", "which one is style")
	if asked.Has("2") {
		s.t.Error("a picture is offered twice")
	}
	s.press(asked, "None of them")
	c := s.Call(0)
	s.input(c, "image", s.refOf(red()))
	s.input(c, "depth", s.refOf(green()))
	if c.Inputs["style"] != nil {
		s.t.Errorf("the style is %v", c.Inputs["style"])
	}
	s.send(Post{Text: "/transfer", Files: []File{green(), red()}})
	s.Await(s.room, "second question", func(m Seen) bool { return m.shows("2") && m.ID != asked.ID })
	s.Handled()
	s.say("1")
	s.Await(s.room, "second question about the style", func(m Seen) bool { return m.contains("which one is style") && m.ID != asked.ID && m.Has("2") })
	s.Handled()
	s.say("2")
	c = s.Call(1)
	s.input(c, "image", s.refOf(green()))
	s.input(c, "style", s.refOf(red()))
	if n := s.CountRuns(); n != 2 {
		s.t.Errorf("%d runs, want 2", n)
	}
}

// showsSmall wants a question to show these pictures small, side by side, with a dark field for the number on each.
func (s *scene) showsSmall(asked Seen, pictures ...File) {
	s.t.Helper()
	if asked.Media == nil {
		s.t.Fatalf("the question shows no pictures: %q", asked.Text)
	}
	sheet, _, err := image.Decode(bytes.NewReader(asked.Media.Data))
	if err != nil {
		s.t.Fatal(err)
	}
	cell := sheet.Bounds().Dx() / len(pictures)
	for i, picture := range pictures {
		img, _, err := image.Decode(bytes.NewReader(picture.Data))
		if err != nil {
			s.t.Fatal(err)
		}
		near := func(at image.Point, want color.Color) bool {
			r, g, b, _ := sheet.At(at.X, at.Y).RGBA()
			wr, wg, wb, _ := want.RGBA()
			const off = 40 << 8
			return max(r, wr)-min(r, wr) < off && max(g, wg)-min(g, wg) < off && max(b, wb)-min(b, wb) < off
		}
		if middle := image.Pt(i*cell+cell/2, cell/2); !near(middle, img.At(0, 0)) {
			s.t.Errorf("picture %d is %v in the middle, want %v", i+1, sheet.At(middle.X, middle.Y), img.At(0, 0))
		}
		if corner := image.Pt(i*cell+14, 14); near(corner, img.At(0, 0)) {
			s.t.Errorf("picture %d has no number", i+1)
		}
	}
}

func picturesByNumber(s *scene) {
	blend := slices.DeleteFunc(Tools(), func(t registry.Tool) bool { return t.ToolID != "blend" })
	s.with(transfer(), blend[0])
	s.send(Post{Text: "/transfer style=1 image=2", Files: []File{green(), red()}})
	c := s.Call(0)
	s.input(c, "image", s.refOf(red()))
	s.input(c, "style", s.refOf(green()))
	s.send(Post{Text: "/blend", Files: []File{green(), red()}})
	c = s.Call(1)
	s.input(c, "first", s.refOf(green()))
	s.Succeed(c, PictureOutput("picture"))
	s.press(s.labelled("Swap pictures", "Blend"), "Swap pictures")
	c = s.Call(2)
	s.input(c, "first", s.refOf(red()))
	s.input(c, "second", s.refOf(green()))
}

func latePing(s *scene) {
	group := s.Harness.Group("Painters")
	if s.Caps.NoticedFor == 0 || group.none() {
		return
	}
	s.sayIn(group, "/painter a red bicycle")
	c := s.Call(0)
	status := s.Await(group, "status", func(m Seen) bool { return m.Has("Cancel") })
	s.Handled()
	s.Stop()
	if _, err := s.Pool.Exec(s.t.Context(), `UPDATE runs SET created_at = created_at - make_interval(secs => $1)`, s.Caps.NoticedFor.Seconds()+60); err != nil {
		s.t.Fatal(err)
	}
	s.Start()
	s.Succeed(c, PictureOutput("picture"))
	m := s.AwaitMedia(group, "Painter")
	if s.Idle(); m.ID == status.ID || !slices.Equal(m.Pings, []string{s.anna.ID}) {
		s.t.Errorf("the result is message %s after %s and notifies %q", m.ID, status.ID, m.Pings)
	}
	s.sayIn(group, "/painter a cat")
	s.Succeed(s.Call(1), PictureOutput("picture"))
	quick := s.AwaitMedia(group, "a cat")
	if s.Idle(); len(quick.Pings) > 0 {
		s.t.Errorf("a result that comes soon notifies %q", quick.Pings)
	}
	if list := s.Harness.Messages(s.t, group); len(list) != 2 {
		s.t.Errorf("want two results and nothing else:\n%s", render(list))
	}
}

func followingToolGone(s *scene) {
	s.with(followers()...)
	m := s.painted()
	s.with()
	if a := s.press(m, "Upscale"); !strings.Contains(a.Text, "is gone") {
		s.t.Errorf("the button of a tool that is gone answers %q", a.Text)
	}
	s.with(followers()...)
	s.press(m, "Upscale")
	s.input(s.Call(1), "image", s.refOfPainted())
}

func deleteOneOfASet(s *scene) {
	m := s.paintedSet()
	s.press(m, "U1")
	one := s.AwaitMedia(s.room, "Picture 1 of 4")
	s.press(one, "Delete")
	s.until(s.room, "set without the single picture", func(list []Seen) bool {
		return !slices.ContainsFunc(list, func(m Seen) bool { return m.ID == one.ID }) && slices.ContainsFunc(list, func(m Seen) bool { return m.Has("U2") })
	})
	s.press(m, "U2")
	s.AwaitMedia(s.room, "Picture 2 of 4")
}

func moreOfASet(s *scene) {
	m := s.paintedSet()
	s.press(m, "More…")
	m = s.labelled("Back", "Painter")
	s.wantButtons(m, "Vary Edit prompt Settings Original file | Use with… Receipt Delete Back")
	s.press(m, "Back")
	s.labelled("U1", "Painter")
}
