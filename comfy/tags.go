package comfy

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// lackTag begins the name of a tag among what an engine lacks.
const lackTag = "the tag "

// ReadTags reads the tags of an engine out of the fragment of its address: http://gpu1:8188#gpu=4090&room=cellar.
func ReadTags(u *url.URL) (tags []string, err error) {
	if u.Fragment == "" {
		return nil, nil
	}
	for tag := range strings.SplitSeq(u.Fragment, "&") {
		name, value, ok := strings.Cut(tag, "=")
		if !ok || name == "" || value == "" || strings.ContainsAny(tag, " \t,") {
			return nil, fmt.Errorf("%s: found the tag %.60q, expected name=value, as in http://gpu1:8188#gpu=4090&room=cellar", EngineName(u), tag)
		}
		if _, err := strconv.ParseFloat(value, 64); name == "vram" && err != nil {
			return nil, fmt.Errorf("%s: found %.60q, expected a number of gigabytes, such as vram=24", EngineName(u), tag)
		}
		if name == rateTag && !isRate(value) {
			return nil, fmt.Errorf("%s: found %.60q, expected US dollars a second, such as rate=0.0004", EngineName(u), tag)
		}
		tags = append(tags, tag)
	}
	return tags, nil
}

// rateTag is the tag that says what a second of the engine costs, in US dollars.
const rateTag = "rate"

func isRate(text string) bool {
	rate, err := registry.ParseDecimal(json.Number(text))
	return err == nil && rate.Sign() >= 0
}

// RateOf is the rate among the tags of an engine; empty: it has none of its own.
func RateOf(tags []string) string {
	for _, tag := range tags {
		if rate, ok := strings.CutPrefix(tag, rateTag+"="); ok {
			return rate
		}
	}
	return ""
}

// lacksTags names the tags that an engine has not. It has vram=16 where it has at least 16 gigabytes, as it is tagged or else as it says itself.
func (e *Engine) lacksTags(tags []string) (lacks []string) {
	for _, tag := range tags {
		gigabytes, isMemory := strings.CutPrefix(tag, "vram=")
		if has := slices.Contains(e.tags, tag) || isMemory && e.hasMemory(gigabytes); !has {
			lacks = append(lacks, lackTag+tag)
		}
	}
	return lacks
}

func (e *Engine) hasMemory(gigabytes string) bool {
	wanted, err := strconv.ParseFloat(gigabytes, 64)
	if err != nil {
		return false
	}
	has := float64(e.knowledge().stats.Memory.Total) / 1e9
	for _, tag := range e.tags {
		if value, ok := strings.CutPrefix(tag, "vram="); ok {
			has, _ = strconv.ParseFloat(value, 64) // which ReadTags has seen
		}
	}
	return has >= wanted
}

// tagsOf are the tags among what an engine lacks.
func tagsOf(lacks []string) (tags []string) {
	for _, name := range lacks {
		if tag, ok := strings.CutPrefix(name, lackTag); ok {
			tags = append(tags, tag)
		}
	}
	return tags
}
