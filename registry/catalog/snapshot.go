package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

// Snapshot is the whole catalogue at one moment. It never changes; all methods may be used by many
// goroutines at once. Tools given as pointers are shared by all readers and must not be modified;
// All gives private copies.
type Snapshot struct {
	tools     []registry.Tool // by ToolID
	byID      map[string]int32
	byCommand map[string]int32            // without slash, lower case; aliases too
	private   map[string]map[string]int32 // private tools by command and owner
	reader    string                      // the account whose private tools are found, see For
	byAlias   map[string]int32
	byPath    map[string]int32
	index     func() *searchIndex // built when it is first asked for
	hash      string
	at        time.Time
	problems  registry.Problems

	languages sync.Map // *Snapshot by language, see In
}

// NewSnapshot builds a catalogue of tools, for tests and for programs that work from a file. It keeps
// the given tools (modify them no more), seals those without a version and does not validate them.
// Where two claim one id or command the first one wins; Problems tells.
func NewSnapshot(tools []registry.Tool, at time.Time) *Snapshot {
	var b builder
	candidates := make([]candidate, len(tools))
	for i, t := range tools {
		candidates[i] = candidate{tool: t}
		if t.Version == "" {
			b.reseal(&candidates[i], t)
		}
	}
	return buildSnapshot(candidates, reserved{}, at, b.problems)
}

// candidate is a tool that wants to be published, with the loader it came from.
type candidate struct {
	loader string
	tool   registry.Tool
}

func (c candidate) source() string {
	if c.loader == "" {
		return c.tool.ToolID
	}
	return c.tool.ToolID + " (loader " + c.loader + ")"
}

// buildSnapshot resolves claims in the order of the candidates: earlier ones win. Reserved names are nobody's.
func buildSnapshot(candidates []candidate, reserved reserved, at time.Time, problems registry.Problems) *Snapshot {
	b := builder{problems: problems}
	winners := b.uniqueIDs(candidates)
	b.uniqueNames(winners, reserved)
	slices.SortFunc(winners, func(a, b candidate) int { return strings.Compare(a.tool.ToolID, b.tool.ToolID) })
	s := &Snapshot{
		tools:     make([]registry.Tool, len(winners)),
		byID:      make(map[string]int32, len(winners)),
		byCommand: make(map[string]int32, len(winners)),
		private:   make(map[string]map[string]int32),
		byAlias:   make(map[string]int32),
		byPath:    make(map[string]int32, len(winners)),
		at:        at,
	}
	for i, w := range winners {
		s.tools[i] = w.tool
		s.byID[w.tool.ToolID] = int32(i)
		s.byPath[pathKey(w.tool.RunPath())] = int32(i)
		switch {
		case w.tool.CommandName == "":
		case w.tool.Private():
			s.addPrivate(&w.tool, int32(i))
		default:
			s.byCommand[commandKey(w.tool.CommandName)] = int32(i)
		}
	}
	b.aliases(s, winners)
	s.problems = b.problems
	s.index = sync.OnceValue(func() *searchIndex { return newSearchIndex(s.tools) })
	s.hash = hashTools(s.tools)
	return s
}

// builder collects the problems of claims that were lost.
type builder struct{ problems registry.Problems }

func (b *builder) lost(c candidate, field, message string) {
	b.problems = append(b.problems, registry.Problem{Loader: c.loader, ToolID: c.tool.ToolID, Field: field, Message: message})
}

// uniqueIDs keeps the first tool of each id. The same content twice is no problem (A4).
func (b *builder) uniqueIDs(candidates []candidate) []candidate {
	winners := make([]candidate, 0, len(candidates))
	place := make(map[string]int, len(candidates))
	for _, c := range candidates {
		i, taken := place[c.tool.ToolID]
		if !taken {
			place[c.tool.ToolID] = len(winners)
			winners = append(winners, c)
			continue
		}
		if !winners[i].tool.Equal(&c.tool) {
			b.lost(c, "toolId", "two different tools have this id; the one of "+loaderName(winners[i])+" is used, the one of "+loaderName(c)+" is not")
		}
	}
	return winners
}

func loaderName(c candidate) string {
	if c.loader == "" {
		return "the list"
	}
	return "loader " + c.loader
}

// uniqueNames takes commands and paths away from tools that claim one that is taken (A44): the tool
// stays reachable by its id, and the problem names both.
func (b *builder) uniqueNames(winners []candidate, reserved reserved) {
	slices.SortStableFunc(winners, houseFirst)
	commands := make(map[string]candidate, len(winners))
	paths := make(map[string]candidate, len(winners))
	for i := range winners {
		w := &winners[i]
		t := w.tool
		if reserved.command(t.CommandName) {
			b.lost(*w, "commandName", t.CommandName+" is a command of the bot's own; give the tool another")
			t.CommandName = ""
		}
		if t.CommandName != "" {
			if first, taken := claim(commands, claimKey(&t), *w); taken {
				b.lost(*w, "commandName", t.CommandName+" is claimed by "+first.source()+" and by "+w.source()+"; "+first.tool.ToolID+" keeps it")
				t.CommandName = ""
			}
		}
		if t.APIPath != "" && reserved.path(t.APIPath) {
			b.lost(*w, "apiPath", t.APIPath+" is an address of the program's own; give the tool another")
			t.APIPath = ""
		}
		if first, taken := claim(paths, pathKey(t.RunPath()), *w); taken {
			b.lost(*w, "apiPath", t.RunPath()+" is claimed by "+first.source()+" and by "+w.source()+"; "+first.tool.ToolID+" keeps it")
			t.APIPath = ""
		}
		if t.CommandName != w.tool.CommandName || t.APIPath != w.tool.APIPath {
			b.reseal(w, t)
		}
	}
}

// houseFirst puts tools that people made behind those of the house, whose commands theirs never take.
func houseFirst(a, b candidate) int {
	switch {
	case (a.tool.Owner == "") == (b.tool.Owner == ""):
		return 0
	case a.tool.Owner == "":
		return -1
	}
	return 1
}

// claimKey is what no two tools have: the command, of a private tool that of its owner.
func claimKey(t *registry.Tool) string {
	if t.Private() {
		return t.Owner + "/" + commandKey(t.CommandName)
	}
	return commandKey(t.CommandName)
}

func (s *Snapshot) addPrivate(t *registry.Tool, i int32) {
	key := commandKey(t.CommandName)
	if s.private[key] == nil {
		s.private[key] = make(map[string]int32)
	}
	s.private[key][t.Owner] = i
}

// reserved are the names that the program keeps for itself.
type reserved struct{ commands, paths []string }

func (r reserved) command(command string) bool {
	return command != "" && slices.ContainsFunc(r.commands, func(own string) bool { return commandKey(own) == commandKey(command) })
}

// path reports whether a path, as clients may write it, is one of those that are kept or below one.
func (r reserved) path(path string) bool {
	path = pathKey(path)
	return slices.ContainsFunc(r.paths, func(own string) bool { return path == own || strings.HasPrefix(path, own+"/") })
}

func (b *builder) reseal(w *candidate, t registry.Tool) {
	if err := t.Seal(); err != nil {
		b.lost(*w, "", err.Error())
	}
	w.tool = t
}

func claim(taken map[string]candidate, key string, c candidate) (first candidate, lost bool) {
	first, lost = taken[key]
	if !lost {
		taken[key] = c
	}
	return first, lost
}

// aliases lead to a tool by id and, where the alias is fit for one, by command. Real ids and commands
// come before aliases, earlier aliases before later ones.
func (b *builder) aliases(s *Snapshot, winners []candidate) {
	for i, w := range winners {
		for _, alias := range w.tool.Aliases {
			id := strings.TrimPrefix(alias, "/")
			if other, taken := s.aliasTaken(alias, id); taken && other != int32(i) {
				b.lost(w, "aliases", "the alias "+alias+" already leads to "+s.tools[other].ToolID)
				continue
			}
			s.byAlias[id] = int32(i)
			if key := commandKey(alias); validate.IsCommandWord(key) {
				if _, taken := s.byCommand[key]; !taken {
					s.byCommand[key] = int32(i)
				}
			}
		}
	}
}

func (s *Snapshot) aliasTaken(alias, id string) (int32, bool) {
	if strings.HasPrefix(alias, "/") {
		if i, ok := s.byCommand[commandKey(alias)]; ok {
			return i, true
		}
	} else if i, ok := s.byID[id]; ok {
		return i, true
	}
	i, ok := s.byAlias[id]
	return i, ok
}

func hashTools(tools []registry.Tool) string {
	h := sha256.New()
	for i := range tools {
		t := &tools[i]
		h.Write([]byte(t.ToolID + "\x00" + t.Version + "\x00" + statusText(t.Status) + "\x00" + t.Owner + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func statusText(s *registry.Status) string {
	if s == nil {
		return ""
	}
	return string(s.State) + "\x00" + s.Reason + "\x00" + s.Replacement + "\x00" + s.Since
}

// Len is the number of tools.
func (s *Snapshot) Len() int { return len(s.tools) }

// Each goes through all tools, ordered by id, without copying them; they are read-only.
func (s *Snapshot) Each() iter.Seq[*registry.Tool] {
	return func(yield func(*registry.Tool) bool) {
		for i := range s.tools {
			if !yield(&s.tools[i]) {
				return
			}
		}
	}
}

// Hash tells two catalogues apart: it covers id, version and status of every tool.
func (s *Snapshot) Hash() string { return s.hash }

// Time is when the catalogue was built.
func (s *Snapshot) Time() time.Time { return s.at }

// Problems are the definitions that were refused and the claims that were lost while this catalogue
// was built.
func (s *Snapshot) Problems() registry.Problems { return slices.Clone(s.problems) }

// ByID finds a tool by its exact id, shared and read-only.
func (s *Snapshot) ByID(toolID string) (*registry.Tool, bool) {
	i, ok := s.byID[toolID]
	return s.found(i, ok)
}

// ByAlias finds the tool that an alias leads to, with or without its slash; not the tool's own id.
func (s *Snapshot) ByAlias(alias string) (*registry.Tool, bool) {
	i, ok := s.byAlias[strings.TrimPrefix(alias, "/")]
	return s.found(i, ok)
}

// Resolve finds a tool by id or, failing that, by an alias: for stored ids, which may be old.
func (s *Snapshot) Resolve(toolID string) (*registry.Tool, bool) {
	if t, ok := s.ByID(toolID); ok {
		return t, true
	}
	return s.ByAlias(toolID)
}

// ByAPIPath finds the tool whose RunPath is the escaped path of a request; which letters are escaped does not matter. An
// alias takes the place of the id in the default path, so that programs go on after a rename.
func (s *Snapshot) ByAPIPath(path string) (*registry.Tool, bool) {
	key := pathKey(path)
	if i, ok := s.byPath[key]; ok {
		return s.found(i, ok)
	}
	id, ok := strings.CutPrefix(key, registry.RunPrefix)
	if !ok {
		return nil, false
	}
	return s.ByAlias(id)
}

// pathKey unescapes a path: clients differ in what they escape.
func pathKey(path string) string {
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}

// ByCommand finds a tool by the command as somebody typed it: the slash, the case and a trailing
// @botname do not matter (A44). Aliases count. It does not allocate for lower-case input.
func (s *Snapshot) ByCommand(command string) (*registry.Tool, bool) {
	i, ok := s.byCommand[commandKey(command)]
	if !ok || s.tools[i].Owner != "" {
		if own, has := s.private[commandKey(command)][s.reader]; has {
			i, ok = own, true
		}
	}
	return s.found(i, ok)
}

// HasCommand reports whether a tool has the command, be it somebody's private one.
func (s *Snapshot) HasCommand(command string) bool {
	_, ok := s.byCommand[commandKey(command)]
	return ok || len(s.private[commandKey(command)]) > 0
}

// For gives the catalogue as an account uses it: a command is the house's tool, else the account's own private one, else what somebody
// shares.
func (s *Snapshot) For(accountID string) *Snapshot {
	read := s.view(s.tools)
	read.reader = accountID
	return read
}

func (s *Snapshot) found(i int32, ok bool) (*registry.Tool, bool) {
	if !ok {
		return nil, false
	}
	return &s.tools[i], true
}

// commandKey strips slash, @botname and case. It allocates only where there is a capital letter.
func commandKey(command string) string {
	if command != "" && command[0] == '/' {
		command = command[1:]
	}
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '@':
			return command[:i]
		case c >= 'A' && c <= 'Z', c >= utf8.RuneSelf:
			name, _, _ := strings.Cut(command, "@")
			return strings.ToLower(name)
		}
	}
	return command
}

// ByService gives exactly the tools of one service (A5), shared and read-only, ordered by id.
func (s *Snapshot) ByService(service string) []*registry.Tool {
	return s.where(func(t *registry.Tool) bool { return t.Service == service })
}

// Public gives the tools that everybody may see in lists, whatever their state, so that a price list
// or catalogue shows unavailable ones with their reason. For menus see Offered.
func (s *Snapshot) Public() []*registry.Tool { return s.Listed(registry.Everyone) }

// Listed gives the tools that a may see in lists, whatever their state.
func (s *Snapshot) Listed(a registry.Audience) []*registry.Tool {
	return s.where(func(t *registry.Tool) bool { return t.ListedFor(a) })
}

// Offered gives the tools that belong into menus for a: neither deprecated nor unavailable (A80).
func (s *Snapshot) Offered(a registry.Audience) []*registry.Tool {
	return s.where(func(t *registry.Tool) bool { return t.OfferedTo(a) })
}

// Menu counts the tools that a picks from, in menus, command lists and on the page: those that can be run now, and those that wait for
// what they need. What says how many tools there are says these.
func (s *Snapshot) Menu(a registry.Audience) (ready, waiting int) {
	for _, t := range s.Listed(a) {
		switch {
		case !t.InMenus():
		case t.OfferedTo(a):
			ready++
		case t.State() == registry.StateUnavailable:
			waiting++
		}
	}
	return ready, waiting
}

// Commands gives the offered tools that have a command, in the order of their commands (A47).
func (s *Snapshot) Commands(a registry.Audience) []*registry.Tool {
	tools := s.where(func(t *registry.Tool) bool { return t.CommandName != "" && t.OfferedTo(a) })
	slices.SortFunc(tools, func(a, b *registry.Tool) int { return strings.Compare(a.CommandName, b.CommandName) })
	return tools
}

func (s *Snapshot) where(keep func(*registry.Tool) bool) []*registry.Tool {
	var tools []*registry.Tool
	for t := range s.Each() {
		if keep(t) {
			tools = append(tools, t)
		}
	}
	return tools
}

// Suggest gives up to three offered commands (with slash) that somebody who typed an unknown one may
// have meant, nearest first.
func (s *Snapshot) Suggest(command string) []string {
	const most = 3
	typed := commandKey(command)
	type near struct {
		command  string
		distance int
	}
	var found []near
	limit := edit.Limit(typed)
	for _, t := range s.Commands(registry.Everyone) {
		name := commandKey(t.CommandName)
		d := edit.Distance(typed, name, limit)
		if len(typed) >= 3 && strings.HasPrefix(name, typed) {
			d = min(d, 1)
		}
		if d <= limit {
			found = append(found, near{t.CommandName, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.distance - b.distance })
	commands := make([]string, 0, most)
	for _, n := range found[:min(len(found), most)] {
		commands = append(commands, n.command)
	}
	return commands
}
