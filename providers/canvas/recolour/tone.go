package recolour

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// readable is the contrast of 4.5 that WCAG 2 wants of text, as a distance of lightness; a little more, since colours are rounded.
// Letters with less than a contrast of 3 are an ornament.
var (
	readable = math.Log(4.55) / math.Log(21)
	ornament = math.Log(3) / math.Log(21)
)

// tone is a colour as eyes see it. Its lightness goes from 0 to 1 so that equal distances are equal contrasts of WCAG 2; its chroma and hue (in radians)
// are those of OKLCH (https://bottosson.github.io/posts/oklab/).
type tone struct{ light, chroma, hue float64 }

// rgb are the parts of a colour, 0 to 1, with the gamma of sRGB.
type rgb [3]float64

func parse(hex string) rgb {
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		return rgb{}
	}
	return rgb{float64(v>>16&255) / 255, float64(v>>8&255) / 255, float64(v&255) / 255}
}

func (c rgb) hex() string {
	at := func(v float64) int { return int(math.Round(min(max(v, 0), 1) * 255)) }
	return fmt.Sprintf("#%02X%02X%02X", at(c[0]), at(c[1]), at(c[2]))
}

// each changes all parts.
func (c rgb) each(f func(v float64) float64) rgb { return rgb{f(c[0]), f(c[1]), f(c[2])} }

func (c rgb) mix(other rgb, share float64) rgb {
	for i := range c {
		c[i] += (other[i] - c[i]) * share
	}
	return c
}

// linear takes the gamma off, and encoded puts it on.
func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func encoded(v float64) float64 {
	if v <= 0.0031308 {
		return v * 12.92
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

// lightness is that of a tone, from linear parts.
func (c rgb) lightness() float64 {
	return math.Log((0.2126*c[0]+0.7152*c[1]+0.0722*c[2]+0.05)/0.05) / math.Log(21)
}

func toneOf(hex string) tone {
	c := parse(hex).each(linear)
	l := math.Cbrt(0.4122214708*c[0] + 0.5363325363*c[1] + 0.0514459929*c[2])
	m := math.Cbrt(0.2119034982*c[0] + 0.6806995451*c[1] + 0.1073969566*c[2])
	s := math.Cbrt(0.0883024619*c[0] + 0.2817188376*c[1] + 0.6299787005*c[2])
	a, b := 1.9779984951*l-2.4285922050*m+0.4505937099*s, 0.0259040371*l+0.7827717662*m-0.8086757660*s
	return tone{c.lightness(), math.Hypot(a, b), math.Atan2(b, a)}
}

// hex is the colour of a tone: with its lightness, and as much of its chroma as a screen can show with that.
func (t tone) hex() string {
	t.light = min(max(t.light, 0), 1)
	c, fits := t.parts(t.chroma)
	if !fits {
		low, high := 0.0, t.chroma
		for range 16 {
			mid := (low + high) / 2
			if _, fits := t.parts(mid); fits {
				low = mid
			} else {
				high = mid
			}
		}
		c, _ = t.parts(low)
	}
	return c.each(encoded).hex()
}

// parts are the linear parts of a tone with another chroma, and whether a screen can show them.
func (t tone) parts(chroma float64) (c rgb, fits bool) {
	a, b := chroma*math.Cos(t.hue), chroma*math.Sin(t.hue)
	low, high := 0.0, 1.0
	for range 24 {
		lightness := (low + high) / 2
		l, m, s := lightness+0.3963377774*a+0.2158037573*b, lightness-0.1055613458*a-0.0638541728*b, lightness-0.0894841775*a-1.2914855480*b
		l, m, s = l*l*l, m*m*m, s*s*s
		c = rgb{4.0767416621*l - 3.3077115913*m + 0.2309699292*s, -1.2684380046*l + 2.6097574011*m - 0.3413193965*s, -0.0041960863*l - 0.7034186147*m + 1.7076147010*s}
		if c.lightness() < t.light {
			low = lightness
		} else {
			high = lightness
		}
	}
	const off = 0.002
	return c, min(c[0], c[1], c[2]) > -off && max(c[0], c[1], c[2]) < 1+off
}
