package registry

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
)

// Tool is one callable, user-triggerable operation. A Tool that has been published in a Snapshot is
// shared by all readers and must not be modified; use Clone to get a private copy.
type Tool struct {
	ToolID          string         `json:"toolId"`
	Service         string         `json:"service"`
	DisplayName     string         `json:"displayName"`
	Description     string         `json:"description,omitempty"`
	CommandName     string         `json:"commandName,omitempty"` // with its slash: "/fluxgeneral"
	APIPath         string         `json:"apiPath,omitempty"`
	InputSchema     InputSchema    `json:"inputSchema"`
	OutputSchema    OutputSchema   `json:"outputSchema,omitempty"`
	CostingModel    *CostingModel  `json:"costingModel,omitempty"`
	WebhookStrategy *WebhookConfig `json:"webhookStrategy,omitempty"`
	PlatformHints   *PlatformHints `json:"platformHints,omitempty"`
	Metadata        map[string]any `json:"metadata,omitempty"`

	// Version is the content hash of the definition: twelve hex digits, set by Seal.
	Version string  `json:"version,omitempty"`
	Status  *Status `json:"status,omitempty"` // nil means active
	Listing
	Execution
	Policy
	Advice
	Migrations []Rename `json:"migrations,omitempty"` // renamed inputs, for stored preferences
	Delivery   Delivery `json:"delivery,omitempty"`   // by platform name

	// Localized are the tool's texts in other languages than English, by base language: "de".
	Localized map[string]Words `json:"localized,omitempty"`

	// HumanDefaults are values by input name that are used instead of an input's default when a
	// person, not an agent, starts the tool (A88).
	HumanDefaults map[string]any `json:"humanDefaults,omitempty"`

	// Incomplete marks a bootstrapped definition that has no more than an id, a service and a name.
	// It is listed and marked, and the Registry sets it where it holds (A77).
	Incomplete bool `json:"incomplete,omitempty"`
}

// Listing says in which lists a tool stands, and under which further names it is found.
type Listing struct {
	Visibility Visibility `json:"visibility,omitempty"` // empty means public
	Category   string     `json:"category,omitempty"`
	Aliases    []string   `json:"aliases,omitempty"` // further tool ids and commands that lead here
	Kind       string     `json:"kind,omitempty"`
	Follows    Follow     `json:"follows,omitempty"` // what it does with another tool's result; empty: see FollowsWith
	// Owner is the account that made the tool; empty: it is the house's. A hidden tool with an owner has its command for the owner alone,
	// before what others share. It is no part of the definition.
	Owner string `json:"-"`
}

// Private reports whether the tool is its owner's alone.
func (l Listing) Private() bool { return l.Owner != "" && l.Visibility == VisibilityHidden }

// Execution says how a call is carried out.
type Execution struct {
	Capability   Capability   `json:"capability,omitempty"` // empty means write
	DeliveryMode DeliveryMode `json:"deliveryMode,omitempty"`
	TimeoutMs    int64        `json:"timeoutMs,omitempty"` // zero means the runner's default
	RetryPolicy  *RetryPolicy `json:"retryPolicy,omitempty"`
	Idempotent   bool         `json:"idempotent,omitempty"`
}

// Policy says what has to hold before a call is made, and which tool takes a call back.
type Policy struct {
	Confirmation string   `json:"confirmation,omitempty"` // a kind of summary that has to be confirmed, or the question itself
	Cancels      string   `json:"cancels,omitempty"`      // the tool that takes back what this one did
	CancelFor    string   `json:"cancelFor,omitempty"`    // the tool whose calls this one takes back
	PIIRequired  []string `json:"piiRequired,omitempty"`  // personal data that a call needs
	// Reaches are the inputs that say to which addresses a call goes, and what goes along. It may carry data out although it changes nothing here.
	Reaches []string `json:"reaches,omitempty"`
}

// Advice helps models to choose and use the tool.
type Advice struct {
	IntentTags []string `json:"intentTags,omitempty"`
	Guidance   string   `json:"guidance,omitempty"`
}

// InputType is one of the seven types of the contract.
type InputType string

// The seven input types. Media values (image, video, audio, file) travel as references, see Media.
const (
	TypeString  InputType = "string"
	TypeNumber  InputType = "number"
	TypeImage   InputType = "image"
	TypeVideo   InputType = "video"
	TypeAudio   InputType = "audio"
	TypeFile    InputType = "file"
	TypeBoolean InputType = "boolean"
)

// IsMedia reports whether values of the type are references to files.
func (t InputType) IsMedia() bool {
	return t == TypeImage || t == TypeVideo || t == TypeAudio || t == TypeFile
}

// InputField describes one input. Name equals its key in the InputSchema.
//
// Default, Choices, Min, Max and Step hold JSON values: string, bool, json.Number, []any or
// map[string]any, never a float64.
type InputField struct {
	Name        string          `json:"name"`
	Type        InputType       `json:"type"`
	Required    bool            `json:"required"`
	Default     any             `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
	Advanced    bool            `json:"advanced,omitempty"`
	DisplayName string          `json:"displayName,omitempty"` // see Label
	Choices     []Choice        `json:"choices,omitempty"`
	Min         json.Number     `json:"min,omitempty"`
	Max         json.Number     `json:"max,omitempty"`
	Step        json.Number     `json:"step,omitempty"`
	Integer     bool            `json:"integer,omitempty"`
	Multiline   bool            `json:"multiline,omitempty"`
	Multiple    bool            `json:"multiple,omitempty"` // takes a list of values, e.g. an album
	Seed        bool            `json:"seed,omitempty"`     // a random seed: -1 or "random" asks for a fresh one, Vary changes it
	Role        InputRole       `json:"role,omitempty"`     // what it means, where its name does not tell
	Mask        MaskKind        `json:"mask,omitempty"`     // of pictures that mark an area; empty: see MarksBy
	Order       int             `json:"order,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // JSON Schema of a value, see SchemaOfList; where there is one, it alone judges
	Words       *ChoiceWords    `json:"words,omitempty"`
}

// ChoiceWords are words that choosing a value of an input brings into another one, such as those by which a LoRA is triggered into the
// prompt. People see them in the run's inputs.
type ChoiceWords struct {
	Into string            `json:"into"` // name of an input of type string
	Of   map[string]string `json:"of"`   // by value
}

// Added gives a text with the words that a value brings, unless it has them already.
func (w *ChoiceWords) Added(text string, value any) string {
	choice, _ := value.(string)
	words := ""
	if w != nil {
		words = w.Of[choice]
	}
	switch {
	case words == "" || strings.Contains(strings.ToLower(text), strings.ToLower(words)):
		return text
	case strings.TrimSpace(text) == "":
		return words
	}
	return strings.TrimRight(text, " ,") + ", " + words
}

// TakesNull reports whether null is a value of the input, by its schema, and not the same as no value.
func (f InputField) TakesNull() bool {
	if len(f.Schema) == 0 || f.Required || f.Multiple {
		return false
	}
	schema, err := compileSchema(f.Schema)
	return err == nil && schema.Validate(nil) == nil
}

// SchemaOfList reports whether the schema of an input that takes several values is that of the list: its type is array. Any other
// is the schema of each value.
func (f InputField) SchemaOfList() bool { return f.Multiple && f.schemaType() == "array" }

// IsText reports whether the input takes a text that people write as it is: any, or any of a form.
func (f InputField) IsText() bool {
	return f.Type == TypeString && len(f.Choices) == 0 && (len(f.Schema) == 0 || f.schemaType() == "string")
}

// schemaType is the type that the schema names, beside null; "" for none or several.
func (f InputField) schemaType() string {
	type named struct{ Type any }
	var s struct {
		named
		AnyOf []named
	}
	if len(f.Schema) == 0 || json.Unmarshal(f.Schema, &s) != nil {
		return ""
	}
	kinds, several := s.Type.([]any)
	if !several {
		kinds = []any{s.Type}
	}
	for _, one := range s.AnyOf {
		kinds = append(kinds, one.Type)
	}
	kinds = slices.DeleteFunc(kinds, func(k any) bool { return k == nil || k == "null" })
	if len(kinds) != 1 {
		return ""
	}
	kind, _ := kinds[0].(string)
	return kind
}

// Label is what people see: DisplayName or, where there is none, words made of Name.
func (f InputField) Label() string {
	if f.DisplayName != "" {
		return f.DisplayName
	}
	return labelOf(f.Name)
}

// Choice is one allowed value of an input, with an optional label.
// In JSON it is the bare value, or {"value": ..., "label": ...} when it has a label.
type Choice struct {
	Value any
	Label string
}

// OutputField describes one result. The contract names the type without defining it (A12); this is
// the definition: a name (equal to the key in the OutputSchema), a type, a description. Types are
// those of inputs plus "text"; 3D models have type file.
type OutputField struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
	// Schema is the JSON Schema of a text that is JSON: programs get it as data. Loaders make sure that it
	// compiles: that is too dear for each list of tools.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// CostingModel says what a run costs: units consumed times rate.
type CostingModel struct {
	Rate       json.Number `json:"rate"` // US dollars per unit, an exact decimal
	Unit       CostUnit    `json:"unit"`
	RateSource RateSource  `json:"rateSource"`
	// Markup is what the operator adds to rates that come from elsewhere, those of sources machine and api, as
	// a share: 0.2 is a fifth. Rate contains it already.
	Markup json.Number `json:"markup,omitempty"`
	// MinimumUSD is the least that a run which succeeds costs.
	MinimumUSD json.Number `json:"minimumUsd,omitempty"`
	// Fees says that others charge for parts of a run, which the provider tells (Price.FeesUSD, Usage.FeesUSD) and which is added.
	Fees bool `json:"fees,omitempty"`
	// Share is what the tool's author gets of each run that costs something, added to what the run costs without it. Operators bound it.
	Share *Share `json:"share,omitempty"`
	// UpTo says that Rate is the most that a unit costs: what it comes to is known after the run. It goes with the source api.
	UpTo bool `json:"upTo,omitempty"`
}

// Share is what an author gets: a part of what a run costs, or an amount.
type Share struct {
	Author  string      `json:"author,omitempty"`  // the account's id
	Percent json.Number `json:"percent,omitempty"` // more than 0 and at most 100
	USD     json.Number `json:"usd,omitempty"`     // in its place: an amount in US dollars
}

// CostUnit is what is counted.
type CostUnit string

// The units of the contract.
const (
	UnitSecond  CostUnit = "second"  // of the provider's run time, not of waiting in a queue
	UnitToken   CostUnit = "token"   // as the provider reports usage
	UnitRequest CostUnit = "request" // one accepted run that succeeded
)

// RateSource says where the rate comes from.
type RateSource string

// The rate sources of the contract and, last, the extension of A89.
const (
	RateStatic     RateSource = "static"     // Rate itself
	RateMachine    RateSource = "machine"    // the rate of the GPU that ran it
	RateAPI        RateSource = "api"        // the provider's answer
	RateHistorical RateSource = "historical" // what the tool has cost lately
)

// WebhookConfig says how to read a provider's callback or its answer to a question after the run. The first
// four members are the contract's (A32-A35) and enough by themselves. Paths and ExpectedStatusField lead
// through objects by name and lists by number; in the field, dots separate the steps.
type WebhookConfig struct {
	ExpectedStatusField string   `json:"expectedStatusField"`
	SuccessValue        string   `json:"successValue"`
	DurationTracking    bool     `json:"durationTracking"`
	ResultPath          []string `json:"resultPath,omitempty"`

	// FailureValues are further statuses that mean failure, beside the words known everywhere, and
	// PendingValues those that mean that the run has not begun.
	FailureValues []string `json:"failureValues,omitempty"`
	PendingValues []string `json:"pendingValues,omitempty"`
	ErrorPath     []string `json:"errorPath,omitempty"` // to the service's words for what went wrong
	CostPath      []string `json:"costPath,omitempty"`  // to the number of units that the run has cost
	IDPath        []string `json:"idPath,omitempty"`    // to the service's id of the run

	// DefaultStatus is the status where the field is absent, such as of services that say only when a run is done, or that
	// answer at once and have no status.
	DefaultStatus string `json:"defaultStatus,omitempty"`
	// ResultPaths and ErrorPaths are tried in order where ResultPath and ErrorPath are not set or lead nowhere.
	ResultPaths [][]string `json:"resultPaths,omitempty"`
	ErrorPaths  [][]string `json:"errorPaths,omitempty"`
	// Failures tell answers of a run that failed although its status is none of failure.
	Failures []FailureSign `json:"failures,omitempty"`
	// ProgressPath leads to how far the run is, of ProgressMax, which is 1 where it is not set.
	ProgressPath []string    `json:"progressPath,omitempty"`
	ProgressMax  json.Number `json:"progressMax,omitempty"`
}

// FailureSign is a place in an answer that tells a failure: by one of the values Is, by any value but those in Not, or, with
// neither, by being there and neither null nor empty. Through a list ("*" in Path) all items have to tell it.
type FailureSign struct {
	Path []string `json:"path"`
	Is   []string `json:"is,omitempty"`
	Not  []string `json:"not,omitempty"`
	// Means is what kind of failure it is; empty: the service's own. Words leads to why; without it those of ErrorPath are.
	Means FailureMeaning `json:"means,omitempty"`
	Words []string       `json:"words,omitempty"`
}

// FailureMeaning is what a failure asks for.
type FailureMeaning string

// The meanings: the service's rules refuse the inputs or the result, or it has no room and may be asked again later.
const (
	MeansRefused FailureMeaning = "refused"
	MeansBusy    FailureMeaning = "busy"
)

// PlatformHints tell a chat platform how a tool is best fed.
type PlatformHints struct {
	PrimaryInput             string `json:"primaryInput"` // text, image, video, audio or file
	SupportsFileCaption      bool   `json:"supportsFileCaption"`
	SupportsReplyWithCommand bool   `json:"supportsReplyWithCommand"`
}

// State is the life state of a tool.
type State string

// The states of a tool.
const (
	StateActive      State = "active"
	StateDeprecated  State = "deprecated"  // still runs, with a notice
	StateUnavailable State = "unavailable" // refused, with the reason
)

// Status is a tool's state with its reason and, for a deprecated one, what replaces it.
type Status struct {
	State       State  `json:"state"`
	Reason      string `json:"reason,omitempty"`      // in English
	Replacement string `json:"replacement,omitempty"` // a toolId
	Since       string `json:"since,omitempty"`       // RFC 3339 date
	// Checked says that this is no word of the definition's: the one who runs the tool was asked, and is asked again when the
	// tool is loaded the next time.
	Checked bool `json:"checked,omitempty"`
	// Said is Reason as a sentence of the program's, see Error.Said.
	Said *said.Text `json:"said,omitempty"`
}

// SayStatus gives a state whose reason is a text.
func SayStatus(state State, reason said.Text) *Status {
	return &Status{State: state, Reason: reason.String(), Said: &reason}
}

// Text is the reason, as a sentence where it is one.
func (s *Status) Text() said.Text {
	if s.Said != nil && s.Said.Known() {
		return *s.Said
	}
	return said.Text{Words: s.Reason}
}

// Visibility says who gets to see a tool.
type Visibility string

// Public tools are listed for everybody, internal ones only for operators and agents, hidden ones
// are in no list but run for anyone who knows their id.
const (
	VisibilityPublic   Visibility = "public"
	VisibilityInternal Visibility = "internal"
	VisibilityHidden   Visibility = "hidden"
)

// Repeatable reports whether a call that may have been carried out can be made again.
func (t *Tool) Repeatable() bool { return t.Idempotent || t.Capability == CapabilityRead }

// Capability says whether a tool only reads or changes something.
type Capability string

// The two capabilities.
const (
	CapabilityRead  Capability = "read"
	CapabilityWrite Capability = "write"
)

// DeliveryMode says how a result arrives. Empty is derived from the webhook strategy (A87).
type DeliveryMode string

// The delivery modes.
const (
	DeliveryImmediate DeliveryMode = "immediate"
	DeliveryWebhook   DeliveryMode = "webhook"
	DeliveryAsync     DeliveryMode = "async"
)

// RetryPolicy bounds the attempts of one call. MaxAttempts counts the first one.
type RetryPolicy struct {
	MaxAttempts int   `json:"maxAttempts"`
	BackoffMs   int64 `json:"backoffMs,omitempty"`
}

// Rename moves stored preferences from an old input name to a new one. With When set it applies only
// where the stored preference of that other input has that value (A88).
type Rename struct {
	From string         `json:"from"`
	To   string         `json:"to"`
	When map[string]any `json:"when,omitempty"`
}

// Delivery holds a tool's wishes by platform name, e.g. {"telegram": {"sendAs": "document"}}.
type Delivery map[string]DeliveryHint

// DeliveryHint is how results are sent on one platform.
type DeliveryHint struct {
	SendAs   string `json:"sendAs,omitempty"` // photo, document, video, animation, audio, voice
	Filename string `json:"filename,omitempty"`
}

// InputPlaces is the member of a tool's metadata that says of each input, by its name, what it stands for at its source,
// such as a workflow's node and widget. An input that stands for the same under another name was renamed.
const InputPlaces = "inputPlaces"

// KeepWorkflow is the member of a tool's metadata that says, with true, that its results keep what the engine writes into
// theirs: the workflow, the prompt, the parameters.
const KeepWorkflow = "keepWorkflow"

// About is the description with what a model should know besides: when to use the tool, that it goes, its price.
func (t *Tool) About() string {
	parts := []string{t.Description, t.Guidance, t.Notice()}
	if t.CostingModel != nil {
		parts = append(parts, "Price: "+t.CostingModel.Summary()+".")
	}
	var said []string
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, "\n")
}
