package webtools

import (
	"strings"
)

// rules are those of a robots.txt for us (RFC 9309): of all that fit a path the longest one decides.
type rules []rule

type rule struct {
	path  string
	allow bool
}

// rulesOf reads the groups for our name, or else those for everybody.
func rulesOf(text string) rules {
	groups := map[string]rules{}
	var agents []string
	named := false // the last line named an agent
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		switch {
		case !ok:
		case key == "user-agent":
			if !named {
				agents = nil
			}
			agents, named = append(agents, strings.ToLower(value)), true
			for _, a := range agents {
				groups[a] = append(rules{}, groups[a]...)
			}
		case key == "allow" || key == "disallow":
			named = false
			if value == "" {
				continue
			}
			for _, a := range agents {
				groups[a] = append(groups[a], rule{value, key == "allow"})
			}
		}
	}
	if own, ok := groups[strings.ToLower(agentName)]; ok {
		return own
	}
	return groups["*"]
}

// allow applies the longest rule that fits a path; of two of one length the one that allows.
func (r rules) allow(path string) bool {
	longest, allowed := -1, true
	for _, one := range r {
		if len(one.path) < longest || !fits(one.path, path) || len(one.path) == longest && !one.allow {
			continue
		}
		longest, allowed = len(one.path), one.allow
	}
	return allowed
}

// fits matches a rule, in which * stands for anything and $ for the end, with the beginning of a path.
func fits(pattern, path string) bool {
	pattern, atEnd := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	rest := path[len(parts[0]):]
	for i, part := range parts[1:] {
		if atEnd && i == len(parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return !atEnd || rest == ""
}
