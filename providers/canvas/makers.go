package canvas

import (
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// What shapes take in the older document. Place and size have to be said.
const makerInputs = "x! y! width! height! parentId name borderRadius rotation opacity blendMode color fills strokes shadows backgroundImage stacking parentIndex"

// makers are the drawing tools of the older document.
func makers() []operation {
	list := []operation{
		{id: "rectangle-maker", name: "rectangleMaker", title: "Rectangle", failure: "Failed to create rectangle",
			description: "Draws a rectangle. Use it for backgrounds, buttons, cards, containers and input fields. Draw in this order: board, background, cards, text, buttons; what is drawn last is on top.",
			run:         make1(scene.Rectangle)},
		{id: "ellipse-maker", name: "ellipseMaker", title: "Ellipse", failure: "Failed to create ellipse",
			description: "Draws an ellipse or, with equal width and height, a circle. Use it for icons, avatars, dots and decoration.", run: make1(scene.Ellipse)},
		{id: "text-maker", name: "textMaker", title: "Text", failure: "Failed to create text",
			description: "Writes a text into a box; it wraps at the box's width. Use it for headings, labels and paragraphs; getAvailableFonts lists the fonts.", run: make1(scene.TextShape)},
		{id: "path-maker", name: "pathMaker", title: "Path", failure: "Failed to create path",
			description: "Draws a path of lines and curves. Use it for icons, charts and free forms. A triangle: M 0,0; L 100,0; L 50,80; Z.", run: make1(scene.PathShape)},
		{id: "board-maker", name: "boardMaker", title: "Board", failure: "Failed to create board",
			description: "Makes a board, the sheet that holds a drawing. Use it first, and give its id as parentId to what lies on it. Usual sizes: iPhone 14 390 x 844, iPhone 14 Plus 428 x 926, Android 360 x 800, tablet 768 x 1024, desktop 1920 x 1080.",
			run:         make1(scene.Board)},
	}
	for i := range list {
		list[i].kind, list[i].inputs = drawing, makerInputs
	}
	list[2].inputs = "text! fontFamily! fontSize! fontWeight fontStyle textAlign lineHeight letterSpacing textColor " + makerInputs
	list[3].inputs = "content! " + makerInputs
	return list
}

// make1 draws one shape of a type, and says where.
func make1(kind scene.Type) func(*turn) (reply, error) {
	return func(t *turn) (reply, error) {
		p, err := read[scene.Props](t)
		if err != nil {
			return reply{}, err
		}
		sh, err := t.scene.Create(kind, p)
		if err != nil {
			return reply{}, err
		}
		switch kind {
		case scene.Board:
			return t.about(sh, "Board %q created with %g x %g pixels at (%g, %g)", sh.Name, sh.Width, sh.Height, sh.X, sh.Y), nil
		case scene.TextShape:
			return t.about(sh, "Text %q created at (%g, %g)", shorten(sh.Text.Characters), sh.X, sh.Y), nil
		}
		return t.about(sh, "%s created at (%g, %g)", titles[kind], sh.X, sh.Y), nil
	}
}

var titles = map[scene.Type]string{scene.Rectangle: "Rectangle", scene.Ellipse: "Ellipse", scene.TextShape: "Text", scene.PathShape: "Path", scene.Board: "Board", scene.Boolean: "Boolean", scene.Group: "Group"}

// shorten is for what messages repeat.
func shorten(text string) string {
	runes := []rune(text)
	if len(runes) > 60 {
		return string(runes[:59]) + "…"
	}
	return text
}
