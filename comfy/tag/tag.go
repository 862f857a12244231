// Package tag reads what operators say of an engine behind its address, as in http://gpu1:8188#gpu=4090&only=tool:paint.
package tag

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

// The tags that mean something by themselves; runs may require any.
const (
	only = "only" // whose runs the engine is kept for; several add up
	wake = "wake" // the address that is called while the engine sleeps and a run waits for it
	rate = "rate" // what a second of the engine costs, in US dollars
	vram = "vram" // its gigabytes, whatever it says of itself
)

const (
	ofTool  = "tool:"
	ofGroup = "group:"
)

// Set is the tags of one engine.
type Set struct {
	Tags   []string // each is name=value; without wake, which may have a key in it
	Tools  []string // the engine is kept for these tools, and
	Groups []string // for runs that are asked for in these groups; none of either: for everybody's
	Wake   string   // empty: nobody can wake it
	Rate   string   // an exact decimal; empty: it has none of its own
}

// Read reads the tags out of the fragment of an engine's address. Values are percent-encoded where they have a & or a comma.
func Read(u *url.URL) (s Set, err error) {
	if u.Fragment == "" {
		return s, nil
	}
	for raw := range strings.SplitSeq(u.EscapedFragment(), "&") {
		err := s.partOfWake(raw)
		if err == nil {
			err = s.add(raw)
		}
		if err != nil {
			return s, fmt.Errorf("%s%s: %w", u.Host, u.Path, err)
		}
	}
	return s, nil
}

// partOfWake refuses what may be the rest of the address that wakes the engine, cut off at a & that was not encoded: tags are seen by others, and
// it may be a key, which the error leaves out.
func (s *Set) partOfWake(raw string) error {
	if !strings.Contains(s.Wake, "?") {
		return nil
	}
	name, _, _ := strings.Cut(raw, "=")
	return fmt.Errorf("found %.60q behind an address of wake= with a ?, expected %%26 in place of the & before it where it belongs to that address, and else a place before wake=", name)
}

func (s *Set) add(raw string) error {
	tag, err := url.PathUnescape(raw)
	if err != nil {
		return fmt.Errorf("found the tag %.60q, expected percent-encoding as in wake=https://pods.example/start?id=1%%26key=2", raw)
	}
	name, value, ok := strings.Cut(tag, "=")
	if !ok || name == "" || value == "" || strings.ContainsAny(tag, " \t") || name != wake && strings.Contains(tag, ",") {
		return fmt.Errorf("found the tag %.60q, expected name=value, as in http://gpu1:8188#gpu=4090&room=cellar", tag)
	}
	switch name {
	case wake:
		s.Wake = value
		return nil
	case rate:
		if r, err := decimal.Parse(json.Number(value)); err != nil || r.Sign() < 0 {
			return fmt.Errorf("found %.60q, expected US dollars a second, such as rate=0.0004", tag)
		}
		s.Rate = value
	case vram:
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("found %.60q, expected a number of gigabytes, such as vram=24", tag)
		}
	case only:
		tool, isTool := strings.CutPrefix(value, ofTool)
		group, isGroup := strings.CutPrefix(value, ofGroup)
		switch {
		case isTool && tool != "":
			s.Tools = append(s.Tools, tool)
		case isGroup && uuid.Validate(group) == nil:
			s.Groups = append(s.Groups, group)
		default:
			return fmt.Errorf("found %.60q, expected a tool or the id of a group: only=tool:paint or only=group:0190a5b2-6c1f-7000-8000-000000000001", tag)
		}
	}
	s.Tags = append(s.Tags, tag)
	return nil
}

// Serves reports whether the engine takes runs of a tool that are asked for in a group; empty: in none.
func (s Set) Serves(tool, group string) bool {
	return len(s.Tools)+len(s.Groups) == 0 || slices.Contains(s.Tools, tool) || slices.Contains(s.Groups, group)
}

// lack begins the name of a tag among what an engine lacks.
const lack = "the tag "

// LacksTool names the tag without which an engine that is kept for other tools never runs a tool.
func (s Set) LacksTool(tool string) []string {
	if tool == "" || len(s.Groups) > 0 || s.Serves(tool, "") {
		return nil
	}
	return []string{lack + only + "=" + ofTool + tool}
}

// Lacks names those of the tags that an engine has not. It has vram=16 where it has at least 16 gigabytes, as it is tagged or else as it says
// itself, in bytes.
func (s Set) Lacks(tags []string, memory int64) (lacks []string) {
	for _, tag := range tags {
		gigabytes, isMemory := strings.CutPrefix(tag, vram+"=")
		if has := slices.Contains(s.Tags, tag) || isMemory && s.hasMemory(gigabytes, memory); !has {
			lacks = append(lacks, lack+tag)
		}
	}
	return lacks
}

func (s Set) hasMemory(gigabytes string, memory int64) bool {
	wanted, err := strconv.ParseFloat(gigabytes, 64)
	if err != nil {
		return false
	}
	has := float64(memory) / 1e9
	for _, tag := range s.Tags {
		if value, ok := strings.CutPrefix(tag, vram+"="); ok {
			has, _ = strconv.ParseFloat(value, 64) // which Read has seen
		}
	}
	return has >= wanted
}

// Among are the tags among what an engine lacks.
func Among(lacks []string) (tags []string) {
	for _, name := range lacks {
		if tag, ok := strings.CutPrefix(name, lack); ok {
			tags = append(tags, tag)
		}
	}
	return tags
}
