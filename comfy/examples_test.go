package comfy_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/image/draw"

	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/workflows"
)

// exampleSide is the longer side of an example picture: pages show it beside a form.
const exampleSide = 640

// exampleInputs are what the examples are made with, beside the tools' defaults and a still life for the photo.
var exampleInputs = map[string]map[string]any{
	"wallpaper": {"seed": json.Number("2026"), "colors": json.Number("6"), "width": json.Number("1024"), "height": json.Number("768")},
	"filmlook":  {"seed": json.Number("7")},
}

// TestExamples holds that the example pictures of the bundled tools are what these make. With UPDATE_EXAMPLES it makes them anew.
func TestExamples(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflows.FS, comfytest.New(t, comfytest.Options{}))
	photo := w.store.AddFile("photo.png", "image/png", stillLife(t, 768, 1024))
	for id, tool := range w.tools {
		file := filepath.Join("..", "workflows", "examples", id+".jpg")
		if tool.State() != registry.StateActive {
			if _, err := os.Stat(file); err == nil {
				t.Errorf("%s has an example, and can't be run here: %s", id, tool.Status.Reason)
			}
			continue
		}
		inputs := map[string]any{}
		for _, f := range tool.InputSchema {
			if f.Type == registry.TypeImage {
				inputs[f.Name] = photo
			}
		}
		maps.Copy(inputs, exampleInputs[id])
		made := w.firstPicture(t, tool, inputs)
		if os.Getenv("UPDATE_EXAMPLES") != "" {
			if err := os.WriteFile(file, made, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s has no example: run go generate ./workflows: %v", id, err)
			continue
		}
		if off := difference(t, kept, made); off > 2 {
			t.Errorf("the example of %s differs by %.1f of 255 from what it makes: run go generate ./workflows", id, off)
		}
		if len(kept) > 100<<10 {
			t.Errorf("the example of %s has %d bytes, expected at most 100 KiB", id, len(kept))
		}
	}
}

// firstPicture runs a tool and gives the first picture that it makes, as small as an example is.
func (w *world) firstPicture(t *testing.T, tool registry.Tool, inputs map[string]any) []byte {
	t.Helper()
	p := w.run(t, tool, inputs)
	if p.State != registry.RunSucceeded {
		t.Fatalf("%s ended %s: %v", tool.ToolID, p.State, p.Err)
	}
	content, err := p.Result.Outputs[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	full, err := png.Decode(content)
	if err != nil {
		t.Fatalf("%s: %v", tool.ToolID, err)
	}
	size := full.Bounds().Size()
	shrink := min(1, float64(exampleSide)/float64(max(size.X, size.Y)))
	small := image.NewRGBA(image.Rect(0, 0, int(float64(size.X)*shrink), int(float64(size.Y)*shrink)))
	draw.Draw(small, small.Bounds(), image.White, image.Point{}, draw.Src)
	draw.CatmullRom.Scale(small, small.Bounds(), full, full.Bounds(), draw.Over, nil)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, small, &jpeg.Options{Quality: 78}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// difference is how far two pictures are apart on average, per channel; 255 where their sizes differ.
func difference(t *testing.T, a, b []byte) float64 {
	t.Helper()
	var pictures [2]image.Image
	for i, data := range [][]byte{a, b} {
		var err error
		if pictures[i], err = jpeg.Decode(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	box := pictures[0].Bounds()
	if box != pictures[1].Bounds() {
		return 255
	}
	sum := 0.0
	for y := range box.Dy() {
		for x := range box.Dx() {
			r1, g1, b1, _ := pictures[0].At(x, y).RGBA()
			r2, g2, b2, _ := pictures[1].At(x, y).RGBA()
			sum += math.Abs(float64(r1)-float64(r2)) + math.Abs(float64(g1)-float64(g2)) + math.Abs(float64(b1)-float64(b2))
		}
	}
	return sum / 257 / float64(3*box.Dx()*box.Dy())
}

// fruit is a ball of the still life: where it touches the table it is at (x, z), its colour is that of its skin.
type fruit struct {
	x, z, radius float64
	skin         [3]float64
}

// stillLife is a photo that nobody took: fruit on a light table, with the sun from the left.
func stillLife(t *testing.T, width, height int) []byte {
	t.Helper()
	bowl := []fruit{
		{-0.55, 4.7, 0.98, [3]float64{0.86, 0.16, 0.12}}, {0.92, 4.3, 0.74, [3]float64{0.96, 0.56, 0.08}},
		{0.2, 3.35, 0.42, [3]float64{0.35, 0.58, 0.16}}, {0.98, 3.15, 0.28, [3]float64{0.42, 0.12, 0.34}}, {-0.72, 3.25, 0.33, [3]float64{0.95, 0.8, 0.2}},
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			ray := unit([3]float64{(float64(x) - float64(width)/2) / float64(height) * 1.15, (float64(height)/2-float64(y))/float64(height)*1.15 - 0.19, 1})
			c := lookAt(bowl, ray)
			img.SetRGBA(x, y, color.RGBA{bright(c[0]), bright(c[1]), bright(c[2]), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lookAt is the colour that a ray from the eye meets: a ball, the table, or the wall behind.
func lookAt(bowl []fruit, ray [3]float64) [3]float64 {
	eye, sun := [3]float64{0, 1.75, 0}, unit([3]float64{-0.7, 1.1, -0.55})
	near, which := math.Inf(1), -1
	for i, f := range bowl {
		if d, hit := meets(eye, ray, f); hit && d < near {
			near, which = d, i
		}
	}
	if which < 0 {
		if ray[1] > -0.02 {
			return [3]float64{0.985, 0.98, 0.97}
		}
		at := along(eye, ray, -eye[1]/ray[1])
		lit := 1 - 0.4*shade(bowl, at, sun)
		far := 1 / (1 + 0.002*at[2]*at[2])
		return [3]float64{0.985 * lit * (0.95 + 0.05*far), 0.98 * lit * (0.95 + 0.05*far), 0.965 * lit * (0.95 + 0.05*far)}
	}
	at, f := along(eye, ray, near), bowl[which]
	normal := unit([3]float64{at[0] - f.x, at[1] - f.radius, at[2] - f.z})
	light := max(0, dot(normal, sun)) * (1 - 0.8*shade(bowl, along(at, normal, 0.01), sun))
	shine := math.Pow(max(0, dot(normal, unit([3]float64{sun[0] - ray[0], sun[1] - ray[1], sun[2] - ray[2]}))), 60)
	grain := 0.03 * math.Sin(57*normal[0]) * math.Sin(61*normal[1])
	var c [3]float64
	for i := range c {
		c[i] = f.skin[i]*(0.24+0.1*max(0, -normal[1])+0.82*light+grain) + 0.55*shine
	}
	return c
}

// shade is how much of the sun the balls keep from a place: a few rays to a disc of it make the edge soft.
func shade(bowl []fruit, from, sun [3]float64) float64 {
	hidden := 0.0
	for i := range 9 {
		to := unit([3]float64{sun[0] + 0.05*float64(i%3-1), sun[1], sun[2] + 0.05*float64(i/3-1)})
		for _, f := range bowl {
			if d, hit := meets(from, to, f); hit && d > 0.001 {
				hidden++
				break
			}
		}
	}
	return hidden / 9
}

// meets tells how far away a ray enters a ball.
func meets(from, ray [3]float64, f fruit) (float64, bool) {
	to := [3]float64{f.x - from[0], f.radius - from[1], f.z - from[2]}
	middle := dot(to, ray)
	rest := f.radius*f.radius - (dot(to, to) - middle*middle)
	return middle - math.Sqrt(max(rest, 0)), rest > 0 && middle > 0
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func along(from, ray [3]float64, d float64) [3]float64 {
	return [3]float64{from[0] + d*ray[0], from[1] + d*ray[1], from[2] + d*ray[2]}
}

func unit(v [3]float64) [3]float64 {
	length := math.Sqrt(dot(v, v))
	return [3]float64{v[0] / length, v[1] / length, v[2] / length}
}

func bright(c float64) uint8 { return uint8(255 * math.Pow(min(max(c, 0), 1), 1/1.15)) }
