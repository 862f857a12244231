package knowledge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/knowledge/document"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/registry"
)

// Config is what a Provider works with; Index and Texts are required.
type Config struct {
	Index *index.Index
	Texts *i18n.Catalogue
	// Language tells which one an account speaks (BCP 47); nil: nobody knows.
	Language func(ctx context.Context, account string) string

	Translator Translator // nil: there is nobody who translates

	Reader document.Reader // of files

	Dir   string       // each folder and zip in it is a source; empty: none
	Files []string     // built files
	Guard *http.Client // of internal/outbound, for sites; nil: sites can't be added
	// Upload opens a file that an account has uploaded; nil: uploads can't be added.
	Upload func(ctx context.Context, account, ref string) (io.ReadCloser, registry.MediaInfo, error)
	// Changed is called after sources have changed, so that their tools are loaded again; nil: nobody is told.
	Changed func(ctx context.Context)
	Logger  *slog.Logger // nil: nothing is logged
}

// Provider is the loader and the caller of the tools.
type Provider struct {
	cfg  Config
	mu   sync.Mutex     // one refresh at a time
	seen map[int64]bool // sources that the present Sync has read

	translations cache.Cache[string, string] // by language and question
}

var (
	_ registry.Loader  = (*Provider)(nil)
	_ registry.Caller  = (*Provider)(nil)
	_ registry.Readier = (*Provider)(nil)
	_ registry.Pricer  = (*Provider)(nil)
)

// New makes the provider. Sync reads the sources.
func New(cfg Config) (*Provider, error) {
	if cfg.Index == nil || cfg.Texts == nil {
		return nil, errors.New("knowledge: Index and Texts are needed")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Changed == nil {
		cfg.Changed = func(context.Context) {}
	}
	if cfg.Language == nil {
		cfg.Language = func(context.Context, string) string { return "" }
	}
	return &Provider{cfg: cfg, translations: cache.Cache[string, string]{Life: time.Hour, Most: 1000}}, nil
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load gives the tool of each source and, where there is one, the tool over all.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	sources, err := p.cfg.Index.All(ctx)
	if err != nil || len(sources) == 0 {
		return nil, err
	}
	costs, err := p.costs()
	if err != nil {
		return nil, err
	}
	tools := []registry.Tool{docsTool()}
	for _, s := range sources {
		tools = append(tools, sourceTool(s))
	}
	for i := range tools {
		tools[i].CostingModel = costs
	}
	return tools, nil
}

// Ready says that a tool's source is not there any more.
func (p *Provider) Ready(ctx context.Context, tool registry.Tool) error {
	sources, err := p.cfg.Index.All(ctx)
	if err != nil {
		return err
	}
	for _, s := range sources {
		if s.ToolID == tool.ToolID || tool.ToolID == DocsToolID {
			return nil
		}
	}
	return registry.Say(registry.CodeUnavailable, said.DocsGone, "tool", tool.DisplayName)
}

// Call finds passages for the caller.
func (p *Provider) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	if c.Tool.ToolID == DocsToolID {
		return p.docs(ctx, c)
	}
	query, err := p.query(ctx, c)
	if err != nil {
		return registry.Result{}, err
	}
	found, err := p.search(ctx, c, query)
	if err != nil {
		return registry.Result{}, failure(c, err)
	}
	results, err := encoded(found.Results)
	return registry.Result{Usage: found.usage(), Outputs: []registry.Output{
		{Name: "results", Type: "text", Text: results}, {Name: "hint", Type: "text", Text: hint(found)},
	}}, err
}

// query is what a call looks for.
func (p *Provider) query(ctx context.Context, c registry.Call) (index.Query, error) {
	if c.Tool.ToolID != DocsToolID {
		return index.Query{Text: text(c, "query"), Account: c.UserID, ToolID: c.Tool.ToolID, Shared: c.Context.Shared}, nil
	}
	question, source, err := p.named(ctx, c)
	return index.Query{Text: question, Account: c.UserID, ToolID: source, Limit: passages, Shared: c.Context.Shared}, err
}

// failure is an error of a search as the caller gets it: who may not read a source is told the same as where there is none.
func failure(c registry.Call, err error) error {
	switch {
	case errors.Is(err, index.ErrUnknown):
		return registry.Say(registry.CodeUnavailable, said.DocsNone, "tool", c.Tool.DisplayName)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return registry.Say(registry.CodeInternal, said.DocsSearch).Again().Because(err)
}

// hint says what a program or model should know about an answer.
func hint(found answer) string {
	var lines []string
	if len(found.Results) == 0 {
		lines = append(lines, "Nothing about that is in the documents.")
	}
	switch {
	case found.Translated != "":
		lines = append(lines, fmt.Sprintf("The documents are in %s: what was looked for is %q.", titled(found.Foreign), found.Translated))
	case found.Foreign != "":
		lines = append(lines, fmt.Sprintf("The documents are in %s: ask in that language.", titled(found.Foreign)))
	}
	return strings.Join(lines, " ")
}

// encoded are results as JSON.
func encoded(results []index.Result) (string, error) {
	if results == nil {
		results = []index.Result{}
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(results)
	return strings.TrimSpace(b.String()), err
}

func text(c registry.Call, name string) string {
	v, _ := c.Inputs[name].(string)
	return strings.TrimSpace(v)
}
