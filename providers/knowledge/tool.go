package knowledge

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/registry"
)

// The service, and the tool over all sources.
const (
	Service    = "knowledge"
	DocsToolID = "docs"
	suffix     = "Rag" // of the tool of a source, behind its name
)

// howToAsk is the rule for models (E30).
const howToAsk = " Say what you want to do, with the terms that the documents use for it: several related words find more than one vague one, " +
	`such as "export a board as PDF: options, page size, several boards" instead of "save". Cite the url of what you use.`

// resultsSchema is the JSON Schema of what the tools of sources find.
var resultsSchema = json.RawMessage(`{"type":"array","maxItems":10,"items":{"type":"object","required":["title","heading","snippet","url","path","breadcrumbs","score"],"properties":{
"title":{"type":"string"},"heading":{"type":"string"},"snippet":{"type":"string"},"url":{"type":"string"},"path":{"type":"string"},"breadcrumbs":{"type":"array","items":{"type":"string"}},
"summary":{"type":"string"},"hasCode":{"type":"boolean"},"codeLangs":{"type":"array","items":{"type":"string"}},"source":{"type":"string"},"score":{"type":"number","minimum":0,"maximum":1}}}}`)

// sourceTool is the tool of one source. One that not everybody may read is in no list, and says nothing to those who may not: not even what it is about.
func sourceTool(s index.Source) registry.Tool {
	if s.Access == index.AccessListed {
		s.Title, s.Description, s.Address = s.Name, "", ""
	}
	if s.Owner != "" && s.Problem != "" {
		s.Problem = "its documents can't be read" // why is in its owner's list
	}
	description := s.Description
	if description == "" {
		description = "Finds passages in the documents of " + s.Title + "."
	}
	if language := strings.TrimPrefix(s.Language, "simple"); language != "" {
		description += " Ask in " + titled(language) + "."
	}
	t := registry.Tool{
		ToolID: s.ToolID, Service: Service, DisplayName: s.Title, Description: description + howToAsk, Listing: registry.Listing{Category: Service, Kind: "rag", Visibility: registry.VisibilityPublic},
		Execution:   registry.Execution{Capability: registry.CapabilityRead, Idempotent: true, TimeoutMs: 30_000, RetryPolicy: &registry.RetryPolicy{MaxAttempts: 2, BackoffMs: 200}},
		Advice:      registry.Advice{IntentTags: []string{"knowledge", "documents"}},
		InputSchema: registry.InputSchema{{Name: "query", Type: registry.TypeString, Required: true, Multiline: true, DisplayName: "Question", Description: "What the passages are to be about."}},
		OutputSchema: registry.OutputSchema{
			{Name: "results", Type: "text", Description: "The passages, best first: a JSON array, perhaps empty. A score near 0 means that hardly anything of the question is there.", Schema: resultsSchema},
			{Name: "hint", Type: "text", Description: "What to know about the answer, such as that nothing was found; mostly empty."},
		},
		Metadata: map[string]any{"ragContentFile": s.Address, "database": "knowledge_chunks", "instance": s.Name, "menu": false}, // /docs has all sources in it
	}
	if alias := kebab(s.ToolID); alias != s.ToolID {
		t.Aliases = []string{alias}
	}
	if s.Access == index.AccessListed {
		t.Visibility = registry.VisibilityHidden
	}
	if s.Problem != "" && (s.Origin == index.OriginFile || s.Chunks == 0) {
		t.Status = &registry.Status{State: registry.StateUnavailable, Reason: s.Problem, Checked: true}
	}
	return t
}

// docsTool is the one that people use.
func docsTool() registry.Tool {
	return registry.Tool{
		ToolID: DocsToolID, Service: Service, DisplayName: "Documents", CommandName: "/docs", Listing: registry.Listing{Category: Service, Kind: "rag"},
		Description: "Finds what the documents here say about something, and where. Add \"in NAME\" to look in one source only.",
		Execution:   registry.Execution{Capability: registry.CapabilityRead, Idempotent: true, TimeoutMs: 30_000, RetryPolicy: &registry.RetryPolicy{MaxAttempts: 2, BackoffMs: 200}},
		Advice:      registry.Advice{IntentTags: []string{"knowledge", "documents"}},
		InputSchema: registry.InputSchema{
			{Name: "question", Type: registry.TypeString, Required: true, DisplayName: "Question", Description: "What you want to know."},
			{Name: "source", Type: registry.TypeString, Advanced: true, DisplayName: "Source", Description: "The name of the source to look in; all where none is named."},
		},
		OutputSchema: registry.OutputSchema{{Name: "answer", Type: "text", Description: "The best passages with numbered sources. A model gets them as a JSON array, too, in results."}},
	}
}

// toolID is that of a source of the house.
func toolID(name string) string { return name + suffix }

// kebab is an id in small letters with dashes: penpot-user-guide-rag.
func kebab(id string) string {
	var b strings.Builder
	for i, r := range id {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func titled(language string) string { return strings.ToUpper(language[:1]) + language[1:] }
