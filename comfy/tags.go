package comfy

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/decimal"
)

// lackTag begins the name of a tag among what an engine lacks.
const lackTag = "the tag "

// ReadTags reads the tags of an engine out of the fragment of its address: http://gpu1:8188#gpu=4090&room=cellar. Values are percent-encoded where
// they have a & or a comma.
func ReadTags(u *url.URL) (tags []string, err error) {
	if u.Fragment == "" {
		return nil, nil
	}
	for raw := range strings.SplitSeq(u.EscapedFragment(), "&") {
		tag, err := url.PathUnescape(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: found the tag %.60q, expected percent-encoding as in wake=https://pods.example/start?id=1%%26key=2", EngineName(u), raw)
		}
		name, value, ok := strings.Cut(tag, "=")
		if !ok || name == "" || value == "" || strings.ContainsAny(tag, " \t") || name != wakeTag && strings.Contains(tag, ",") {
			return nil, fmt.Errorf("%s: found the tag %.60q, expected name=value, as in http://gpu1:8188#gpu=4090&room=cellar", EngineName(u), tag)
		}
		if _, err := strconv.ParseFloat(value, 64); name == "vram" && err != nil {
			return nil, fmt.Errorf("%s: found %.60q, expected a number of gigabytes, such as vram=24", EngineName(u), tag)
		}
		if name == rateTag && !isRate(value) {
			return nil, fmt.Errorf("%s: found %.60q, expected US dollars a second, such as rate=0.0004", EngineName(u), tag)
		}
		if name == onlyTag && !isOnly(value) {
			return nil, fmt.Errorf("%s: found %.60q, expected a tool or the id of a group: only=tool:paint or only=group:0190a5b2-6c1f-7000-8000-000000000001", EngineName(u), tag)
		}
		tags = append(tags, tag)
	}
	return tags, nil
}

const (
	onlyTag  = "only" // whose runs the engine is kept for; several add up
	toolOf   = "tool:"
	groupOf  = "group:"
	onlyTool = onlyTag + "=" + toolOf
	wakeTag  = "wake" // the address that is called while the engine sleeps and a run waits for it
)

func isOnly(value string) bool {
	if tool, ok := strings.CutPrefix(value, toolOf); ok {
		return tool != ""
	}
	group, ok := strings.CutPrefix(value, groupOf)
	return ok && uuid.Validate(group) == nil
}

// keepFor takes what the engine is kept for out of its tags, and where it is woken.
func (e *Engine) keepFor(tags []string) {
	for _, tag := range tags {
		name, value, _ := strings.Cut(tag, "=")
		switch name {
		case wakeTag:
			e.wake = value
			continue // it may have a key in it
		case onlyTag:
			if tool, ok := strings.CutPrefix(value, toolOf); ok {
				e.onlyTools = append(e.onlyTools, tool)
			} else {
				e.onlyGroups = append(e.onlyGroups, strings.TrimPrefix(value, groupOf))
			}
		}
		e.tags = append(e.tags, tag)
	}
}

// serves reports whether the engine takes runs of a tool that are asked for in a group; empty: in none.
func (e *Engine) serves(tool, group string) bool {
	return len(e.onlyTools)+len(e.onlyGroups) == 0 || slices.Contains(e.onlyTools, tool) || slices.Contains(e.onlyGroups, group)
}

// lacksTool names the tag without which an engine that is kept for other tools never runs a tool.
func (e *Engine) lacksTool(tool string) []string {
	if tool == "" || len(e.onlyGroups) > 0 || e.serves(tool, "") {
		return nil
	}
	return []string{lackTag + onlyTool + tool}
}

// WakeOf is the address among the tags of an engine that wakes it; empty: it has none.
func WakeOf(tags []string) string { return valueOf(tags, wakeTag) }

// rateTag is the tag that says what a second of the engine costs, in US dollars.
const rateTag = "rate"

func isRate(text string) bool {
	rate, err := decimal.Parse(json.Number(text))
	return err == nil && rate.Sign() >= 0
}

// RateOf is the rate among the tags of an engine; empty: it has none of its own.
func RateOf(tags []string) string { return valueOf(tags, rateTag) }

// valueOf is the value of the first tag with a name.
func valueOf(tags []string, name string) string {
	for _, tag := range tags {
		if value, ok := strings.CutPrefix(tag, name+"="); ok {
			return value
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
