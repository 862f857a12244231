package tensor

import "cmp"

// Rect is a rectangle as detectors describe it; it need not lie on whole pixels nor inside the picture.
type Rect struct{ X, Y, W, H float64 }

// CropBoxes cuts from each picture the rectangle around its boxes, widened by padding, and scales it (area) to w x h:
// stretched, or with keep fitted on black. Pictures beyond the lists use the last list; pictures without boxes are left
// out; where nothing of the boxes is inside, the middle of the upper part is taken. If no picture has boxes, all come
// back as they were.
func CropBoxes(m *Image, boxes [][]Rect, w, h, padding int, keep bool) (*Image, error) {
	var crops []*Image
	for i, frame := range m.Split() {
		if len(boxes) == 0 {
			return m, nil
		}
		list := boxes[min(i, len(boxes)-1)]
		if len(list) == 0 {
			continue
		}
		area := union(list).widened(padding).within(frame)
		if area.empty() {
			area = fallback(frame)
		}
		crop, err := cropScaled(frame, area, w, h, keep)
		if err != nil {
			return nil, err
		}
		crops = append(crops, crop)
	}
	if len(crops) == 0 {
		return m, nil
	}
	return concat(crops)
}

func cropScaled(m *Image, area Box, w, h int, keep bool) (*Image, error) {
	if area.empty() {
		return NewImage(1, h, w, m.C)
	}
	crop := Crop(m, area.X0, area.Y0, area.X1-area.X0, area.Y1-area.Y0)
	if !keep {
		return Resize(crop, w, h, Area)
	}
	scale := min(float64(w)/float64(crop.W), float64(h)/float64(crop.H))
	inner, err := Resize(crop, Round(float64(crop.W)*scale), Round(float64(crop.H)*scale), Area)
	if err != nil {
		return nil, err
	}
	x, y := (w-inner.W)/2, (h-inner.H)/2
	return pad(inner, Edges{Left: x, Top: y, Right: w - inner.W - x, Bottom: h - inner.H - y}, 0)
}

func union(list []Rect) Box {
	out := list[0].box()
	for _, r := range list[1:] {
		b := r.box()
		out = Box{min(out.X0, b.X0), min(out.Y0, b.Y0), max(out.X1, b.X1), max(out.Y1, b.Y1)}
	}
	return out
}

// box drops the fractions of the corners.
func (r Rect) box() Box {
	return Box{int(r.X), int(r.Y), int(r.X + r.W), int(r.Y + r.H)}
}

func (b Box) widened(by int) Box { return Box{b.X0 - by, b.Y0 - by, b.X1 + by, b.Y1 + by} }

func (b Box) within(m *Image) Box {
	return Box{max(b.X0, 0), max(b.Y0, 0), min(b.X1, m.W), min(b.Y1, m.H)}
}

func (b Box) empty() bool { return b.X1 <= b.X0 || b.Y1 <= b.Y0 }

// fallback is a square of 0.3 of the shorter side, where faces usually are.
func fallback(m *Image) Box {
	size := int(float64(min(m.H, m.W)) * 0.3)
	x, y := max(0, (m.W-size)/2), max(0, int(float64(m.H)*0.1))
	return Box{x, y, min(m.W, x+size), min(m.H, y+size)}
}

// BoxesSize is the size of a picture that holds all boxes; 640 where there are none.
func BoxesSize(boxes [][]Rect) (w, h int) {
	for _, list := range boxes {
		for _, r := range list {
			b := r.box()
			w, h = max(w, b.X1), max(h, b.Y1)
		}
	}
	w = cmp.Or(w, 640)
	h = cmp.Or(h, 640)
	return w, h
}

// DrawBoxes draws red frames, three pixels wide, around the boxes of each picture; one list serves all pictures. The
// result has 8 bits a channel.
func DrawBoxes(m *Image, boxes [][]Rect) *Image {
	out := EightBit(m)
	for i := range out.B {
		if len(boxes) == 0 || i >= len(boxes) && len(boxes) != 1 {
			break
		}
		for _, r := range boxes[min(i, len(boxes)-1)] {
			out.drawFrame(i, r.box())
		}
	}
	return out
}

func (m *Image) drawFrame(i int, b Box) {
	const width = 3
	frame := m.Frame(i)
	inside := b.within(&Image{W: m.W - 1, H: m.H - 1})
	for y := inside.Y0; y <= inside.Y1; y++ {
		for x := inside.X0; x <= inside.X1; x++ {
			if min(x-b.X0, b.X1-x, y-b.Y0, b.Y1-y) < width {
				for k, v := range []float32{1, 0, 0, 1}[:min(m.C, 4)] {
					frame[(y*m.W+x)*m.C+k] = v
				}
			}
		}
	}
}
