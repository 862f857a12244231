package openapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/folder"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// specKey is the member of a tool's metadata that names how it is called, by content.
const specKey = "spec"

// Config wires Tools. Store and Guard are required.
type Config struct {
	Dir       string   // its files named like *.openapi.yaml, .yml or .json are documents; empty: none
	Documents []string // files and addresses of further documents, each perhaps with "name=" before it
	// Allow lists which operations of documents without extensions are tools: operationIds, in which *
	// stands for any part.
	Allow  []string
	Store  registry.SpecStore          // how tools are called
	Guard  *http.Client                // of internal/outbound: documents and what they name are reached through it
	Lookup func(string) (string, bool) // of the environment; nil: os.LookupEnv
	Now    func() time.Time            // nil: time.Now
}

// Tools is the loader of documents, and runs their operations. It is safe for concurrent use.
type Tools struct {
	cfg     Config
	clients clients
	specs   *upstream.Specs[spec]

	mu   sync.Mutex
	good map[string]reading // the last good one by source
	lint []Finding
}

// reading is what a document gave.
type reading struct {
	sum      [sha256.Size]byte
	parts    map[string][sha256.Size]byte // of the document's other files
	tools    []registry.Tool
	findings []Finding
}

var _ registry.Loader = (*Tools)(nil)

// New makes the loader; it reads nothing yet.
func New(cfg Config) *Tools {
	if cfg.Lookup == nil {
		cfg.Lookup = os.LookupEnv
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	t := &Tools{cfg: cfg, good: map[string]reading{}, specs: upstream.NewSpecs[spec](cfg.Store, maxDocument)}
	t.clients = clients{cfg: cfg, known: map[string]*account{}}
	return t
}

// Name identifies the loader.
func (t *Tools) Name() string { return "openapi" }

// Load reads all documents. One that can't be read keeps the tools it had when it was last good; what is refused
// is reported beside the others' tools as a *registry.PartialError.
func (t *Tools) Load(ctx context.Context) ([]registry.Tool, error) {
	sources, err := t.sources(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the OpenAPI documents: %w", err)
	}
	c := catalogue{owner: map[string]string{}, commands: map[string]bool{}}
	good := map[string]reading{}
	for _, s := range sources {
		read, err := t.read(ctx, s)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			c.problems = append(c.problems, registry.Problem{Source: s.address, Message: err.Error()})
		}
		if read.tools != nil || err == nil {
			good[s.address] = read
		}
		c.add(s, read)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.good, t.lint = good, c.findings
	if len(c.problems) > 0 {
		return c.tools, &registry.PartialError{Problems: c.problems}
	}
	return c.tools, nil
}

// Findings are those of the last Load, warnings and refusals.
func (t *Tools) Findings() []Finding {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lint)
}

// catalogue collects the tools of all documents.
type catalogue struct {
	tools    []registry.Tool
	findings []Finding
	problems registry.Problems
	owner    map[string]string // source by tool
	commands map[string]bool
}

func (c *catalogue) add(s source, read reading) {
	c.findings = append(c.findings, read.findings...)
	for _, f := range read.findings {
		if f.Refused {
			c.problems = append(c.problems, f.problem(s.address))
		}
	}
	for _, tool := range read.tools {
		if first, taken := c.owner[tool.ToolID]; taken {
			c.problems = append(c.problems, registry.Problem{Source: s.address, ToolID: tool.ToolID, Message: "the operationId is already that of an operation in " + first})
			continue
		}
		c.owner[tool.ToolID] = s.address
		tool = tool.Clone()
		if name := tool.CommandName; name != "" && c.commands[name] {
			tool.CommandName = "/" + marked(name[1:], maxCommand, tool.ToolID)
			if c.commands[tool.CommandName] {
				tool.CommandName = "" // still there by its id
			}
		}
		c.commands[tool.CommandName] = true
		c.tools = append(c.tools, tool)
	}
}

// endings are those of documents' names in the folder.
var endings = []string{".openapi.yaml", ".openapi.yml", ".openapi.json"}

// IsFile reports whether a file's name is that of an OpenAPI document.
func IsFile(name string) bool { return nameOf(name) != "" }

// nameOf is a document's name by its file's, "" for other files.
func nameOf(file string) string {
	base := filepath.Base(file)
	for _, end := range endings {
		if cut := len(base) - len(end); cut > 0 && strings.EqualFold(base[cut:], end) {
			return base[:cut]
		}
	}
	return ""
}

func (t *Tools) sources(ctx context.Context) ([]source, error) {
	var list []source
	for _, entry := range t.cfg.Documents {
		list = append(list, parseSource(entry))
	}
	if t.cfg.Dir == "" {
		return list, ctx.Err()
	}
	err := folder.Walk(ctx, t.cfg.Dir, func(relative string, entry fs.DirEntry) error {
		if path := filepath.Join(t.cfg.Dir, relative); !entry.IsDir() && IsFile(path) {
			list = append(list, source{name: nameOf(path), address: path, file: path})
		}
		return nil
	})
	return list, err
}

// parseSource reads an entry of the list of documents: a file or address, perhaps with "name=" before it.
func parseSource(entry string) source {
	name, address, named := strings.Cut(entry, "=")
	if !named || strings.ContainsAny(name, "/?:.") {
		name, address = "", entry
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		base := filepath.Base(address)
		return source{name: cmp.Or(name, nameOf(address), strings.TrimSuffix(base, filepath.Ext(base))), address: address, file: address}
	}
	shown := *u
	shown.RawQuery, shown.User = "", nil
	return source{name: cmp.Or(name, u.Hostname()), address: shown.String(), at: u}
}

// IsDocument reports whether an entry of Config.Documents can be one: a web address, or a file that exists.
func IsDocument(entry string) bool {
	s := parseSource(entry)
	if s.at != nil {
		return s.at.Scheme == "https" || s.at.Scheme == "http"
	}
	info, err := os.Stat(s.file)
	return err == nil && !info.IsDir()
}

// IsPattern reports whether an entry of Config.Allow can be one.
func IsPattern(entry string) bool {
	_, err := path.Match(entry, "")
	return err == nil
}

// Hosts lists the hosts, with their ports, of the addresses among documents.
func Hosts(documents []string) []string {
	var hosts []string
	for _, entry := range documents {
		if s := parseSource(entry); s.at != nil {
			hosts = append(hosts, s.at.Host)
		}
	}
	return hosts
}

// read gives what a document has now or, with the error, had when it was last good.
func (t *Tools) read(ctx context.Context, s source) (reading, error) {
	t.mu.Lock()
	last := t.good[s.address]
	t.mu.Unlock()
	s, agent, data, err := t.follow(ctx, s)
	if err != nil {
		return last, err
	}
	about, err := json.Marshal(agent)
	if err != nil {
		return last, err
	}
	sum := sumOf(about, data)
	if last.sum == sum && t.partsOf(ctx, s).same(last.parts) {
		return last, nil
	}
	files := t.partsOf(ctx, s)
	doc, err := readDocument(s.name, s.at, data, files)
	if err != nil {
		return last, err
	}
	fresh := reading{sum: sum, tools: []registry.Tool{}}
	built, err := doc.build(agent, t.cfg.Allow, t.cfg.Lookup, &fresh.findings)
	if err != nil {
		return last, err
	}
	if err := t.keep(ctx, built); err != nil {
		return last, err
	}
	for _, b := range built {
		fresh.tools = append(fresh.tools, b.tool)
	}
	fresh.parts = files.sums()
	return fresh, ctx.Err()
}

// sumOf is the sum of contents as of one text.
func sumOf(contents ...[]byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, content := range contents {
		h.Write(content)
	}
	h.Sum(sum[:0])
	return sum
}

// follow fetches a document, by way of its agent's manifest if that is what the source is.
func (t *Tools) follow(ctx context.Context, s source) (source, *manifest, []byte, error) {
	data, err := t.fetch(ctx, s)
	if err != nil {
		return s, nil, nil, err
	}
	agent, err := readManifest(data)
	if err != nil || agent == nil {
		return s, nil, data, err
	}
	if s, err = agent.document(s); err != nil {
		return s, nil, nil, err
	}
	data, err = t.fetch(ctx, s)
	return s, agent, data, err
}

func (t *Tools) fetch(ctx context.Context, s source) ([]byte, error) {
	var body io.ReadCloser
	var err error
	var size int64
	if s.at == nil {
		body, size, err = openFile(s.file)
	} else {
		limited, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		body, _, err = outbound.Get(limited, t.cfg.Guard, s.at.String(), maxDocument)
	}
	if err != nil {
		return nil, fmt.Errorf("it can't be opened: %w", bare(err))
	}
	defer body.Close()
	var data bytes.Buffer
	data.Grow(int(min(size, maxDocument)) + bytes.MinRead) // else documents of many megabytes are in memory several times
	_, err = data.ReadFrom(io.LimitReader(body, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("it can't be read: %w", bare(err))
	}
	if data.Len() > maxDocument {
		return nil, fmt.Errorf("it has more than %d MiB", maxDocument>>20)
	}
	return data.Bytes(), nil
}

// openFile opens a file and tells its size.
func openFile(name string) (io.ReadCloser, int64, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// build makes the tools of a document; what is to be said about it goes to findings. The error is that its operations
// don't fit together, so that none of them can be had.
func (d *document) build(agent *manifest, allow []string, lookup func(string) (string, bool), findings *[]Finding) ([]*builder, error) {
	var built []*builder
	seen := map[string]operation{}
	operations := d.operations(findings)
	annotated := annotated(operations)
	names := d.lintNames(operations)
	for _, op := range operations {
		if !d.exposed(op, annotated, allow, findings) {
			continue
		}
		b := &builder{doc: d, op: op, lookup: lookup}
		if first, twice := seen[op.id()]; twice && op.id() != "" {
			b.refuse("the operationId is already that of %s %s", strings.ToUpper(first.method), first.path)
		}
		seen[op.id()] = op
		for _, f := range names {
			if f.Refused && f.Operation == op.id() {
				b.refuse("%s", f.Message)
			}
		}
		b.build()
		built = append(built, b)
	}
	if !annotated && len(built) == 0 && len(operations) > 0 {
		*findings = append(*findings, d.unnamed(operations))
	}
	*findings = append(*findings, slices.DeleteFunc(names, func(f Finding) bool { return f.Refused && f.Operation != "" })...)
	if agent != nil {
		agent.describe(built)
	}
	good, refusals := settled(built, findings)
	if !annotated {
		return good, nil
	}
	cancelPairs(good)
	if _, broken := settled(good, findings); len(broken) > 0 {
		return nil, fmt.Errorf("the document is refused: %s", strings.Join(append(refusals, broken...), "; "))
	}
	return good, nil
}

// annotated reports whether a document itself says which of its operations are tools.
func annotated(operations []operation) bool {
	return slices.ContainsFunc(operations, func(op operation) bool { return op.object.Has(extTool) })
}

// unnamed says how to name the operations of a document in which nothing says which are tools.
func (d *document) unnamed(operations []operation) Finding {
	example := ""
	if i := slices.IndexFunc(operations, func(op operation) bool { return op.id() != "" }); i >= 0 {
		example = ", such as " + operations[i].id()
	}
	return Finding{Document: d.name, Refused: true, Message: fmt.Sprintf(
		"none of its operations (%d) is a tool: name those that shall be in OPENAPI_ALLOW%s, or mark them with %s: true", len(operations), example, extTool)}
}

// settled moves what is to be said about operations to findings. It gives the operations that became tools, and why the
// others did not.
func settled(built []*builder, findings *[]Finding) (good []*builder, refusals []string) {
	for _, b := range built {
		before := len(refusals)
		for _, f := range b.findings {
			if f.Refused {
				refusals = append(refusals, f.Message)
			}
		}
		if len(refusals) == before {
			good = append(good, b)
		}
		*findings = append(*findings, b.findings...)
		b.findings = nil
	}
	return good, refusals
}

// flat takes away what * would stop at: ids may have slashes.
var flat = strings.NewReplacer("/", "\x1f")

// allowed reports whether the operator's list has an operation.
func allowed(allow []string, id string) bool {
	return slices.ContainsFunc(allow, func(pattern string) bool {
		match, err := path.Match(flat.Replace(pattern), flat.Replace(id))
		return err == nil && match
	})
}

// keep stores how tools are called, all at once, and names it in the tools.
func (t *Tools) keep(ctx context.Context, built []*builder) error {
	for _, b := range built {
		ref, err := t.specs.Note(b.spec)
		if err != nil {
			return err
		}
		b.tool.Metadata[specKey] = ref
	}
	return t.specs.Keep(ctx)
}

// Check reads one document and tells what is to be said about it, for people who write documents. Its tools
// are those that Load would make of it; without a list all are shown of a document that doesn't say which, to choose from.
func Check(ctx context.Context, file string, allow []string) ([]registry.Tool, []Finding, error) {
	t := New(Config{})
	s := parseSource(file)
	data, err := t.fetch(ctx, source{file: file})
	if err != nil {
		return nil, nil, err
	}
	doc, err := readDocument(s.name, nil, data, t.partsOf(ctx, source{file: file}))
	if err != nil {
		return nil, nil, err
	}
	var findings []Finding
	var tools []registry.Tool
	if len(allow) == 0 {
		allow = []string{"*"}
		if operations := doc.operations(new([]Finding)); !annotated(operations) {
			findings = append(findings, Finding{Document: s.name, Message: "OPENAPI_ALLOW is empty: its operations are tools once they are named there, or marked with " + extTool + ": true"})
		}
	}
	built, err := doc.build(nil, allow, t.cfg.Lookup, &findings)
	for _, b := range built {
		tools = append(tools, b.tool)
	}
	return tools, findings, err
}

// Ready says that nothing is known of how a tool is called.
func (t *Tools) Ready(ctx context.Context, tool registry.Tool) error {
	ref, _ := tool.Metadata[specKey].(string)
	if ref == "" {
		return registry.Say(registry.CodeUnavailable, said.CallUndocumented, "tool", tool.DisplayName)
	}
	_, err := t.specs.Of(ctx, ref)
	return err
}
