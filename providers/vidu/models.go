package vidu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// model is what a model takes; what it does not name is left to the service.
type model struct {
	name        string
	durations   []int // seconds
	resolutions []string
	family      string // q3, q2, q1 or 2.0
}

// standard is the duration and the resolution of a request that names none.
func (m model) standard() (seconds int, resolution string) {
	seconds, resolution = 5, "720p"
	if !slices.Contains(m.durations, seconds) {
		seconds = m.durations[0]
	}
	if !slices.Contains(m.resolutions, resolution) {
		resolution = m.resolutions[0]
	}
	return seconds, resolution
}

func seconds(from, to int) []int {
	var list []int
	for n := from; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

var (
	upTo1080 = []string{"540p", "720p", "1080p"}
	all2     = []string{"720p", "360p", "1080p"}
)

func q3(name string) model                { return model{name, seconds(1, 16), upTo1080, "q3"} }
func q2(name string, most int) model      { return model{name, seconds(1, most), upTo1080, "q2"} }
func q1(name string) model                { return model{name, []int{5}, []string{"1080p"}, "q1"} }
func v2(name string, lengths []int) model { return model{name, lengths, all2, "2.0"} }

// The models of each kind of task, the best for most purposes first.
var (
	textModels      = []model{q3("viduq3-pro"), q3("viduq3-turbo"), q2("viduq2", 10), q1("viduq1")}
	imageModels     = []model{q3("viduq3-pro"), q3("viduq3-turbo"), q2("viduq2-pro", 8), q2("viduq2-pro-fast", 8), q2("viduq2-turbo", 8), q1("viduq1"), q1("viduq1-classic"), v2("vidu2.0", []int{4, 8})}
	referenceModels = []model{q2("viduq2", 10), q2("viduq2-pro", 10), q1("viduq1"), v2("vidu2.0", []int{4})}
)

// check refuses what the model does not do, before anything is sent.
func (m model) check(in map[string]any) *registry.Error {
	length, given := whole(in["duration"])
	if given && !slices.Contains(m.durations, length) {
		return wrong("duration", "%s makes videos of %s, not %d", m.name, secondsText(m.durations), length)
	}
	resolution, _ := in["resolution"].(string)
	if resolution != "" && !slices.Contains(m.resolutions, resolution) {
		return wrong("resolution", "%s makes %s, not %s", m.name, strings.Join(m.resolutions, ", "), resolution)
	}
	if m.family == "2.0" && length == 8 && resolution != "" && resolution != "720p" {
		return wrong("resolution", "%s makes 8 seconds in 720p only", m.name)
	}
	limit := 2000
	if m.family == "q3" {
		limit = 5000
	}
	if prompt, _ := in["prompt"].(string); len([]rune(prompt)) > limit {
		return wrong("prompt", "has %d characters, %s takes %d", len([]rune(prompt)), m.name, limit)
	}
	ratio, _ := in["aspect_ratio"].(string)
	if (ratio == "4:3" || ratio == "3:4") && m.family != "q3" && m.family != "q2" {
		return wrong("aspect_ratio", "%s makes 16:9, 9:16 and 1:1, not %s", m.name, ratio)
	}
	return nil
}

func secondsText(list []int) string {
	switch {
	case len(list) == 1:
		return strconv.Itoa(list[0]) + " seconds"
	case list[len(list)-1]-list[0] == len(list)-1:
		return fmt.Sprintf("%d to %d seconds", list[0], list[len(list)-1])
	}
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, " or ") + " seconds"
}

// whole reads a whole number as inputs carry it.
func whole(v any) (int, bool) {
	if v == nil {
		return 0, false
	}
	n, err := strconv.Atoi(fmt.Sprint(v))
	return n, err == nil
}

func wrong(field, format string, args ...any) *registry.Error {
	return &registry.Error{Code: registry.CodeInvalidInput, Field: field, Message: fmt.Sprintf(format, args...)}
}
