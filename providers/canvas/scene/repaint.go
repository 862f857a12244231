package scene

import "slices"

// Repaint changes all colours of a shape: those of its fills, strokes and letters by the one function, those of its shadows by the other. Pictures stay.
func (s *Scene) Repaint(sh *Shape, color, shadow func(string) string) {
	s.edit(sh)
	sh.Fills = repaintFills(sh.Fills, color)
	sh.Strokes = changed(sh.Strokes, func(k *Stroke) { k.Color, k.Gradient = repaint(k.Color, k.Gradient, color) })
	sh.Shadows = changed(sh.Shadows, func(w *Shadow) { w.Color.Color = shadow(w.Color.Color) })
	if sh.Text != nil {
		sh.Text.Ranges = changed(sh.Text.Ranges, func(r *Range) { r.Fills = repaintFills(r.Fills, color) })
	}
}

func repaintFills(fills []Fill, color func(string) string) []Fill {
	return changed(fills, func(f *Fill) {
		if f.Image == nil {
			f.Color, f.Gradient = repaint(f.Color, f.Gradient, color)
		}
	})
}

// repaint changes a colour, or a gradient where there is one.
func repaint(plain string, g *Gradient, color func(string) string) (string, *Gradient) {
	if g == nil {
		return color(plain), nil
	}
	next := *g
	next.Stops = changed(g.Stops, func(stop *Stop) { stop.Color = color(stop.Color) })
	return plain, &next
}

// changed is a copy of a list with each of its members changed.
func changed[T any](list []T, change func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		change(&list[i])
	}
	return list
}
