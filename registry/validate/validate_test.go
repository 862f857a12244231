package validate_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/registry/validate"
)

// simple is a small valid tool with the command of its id.
func simple(id string) registry.Tool {
	return registry.Tool{
		ToolID: id, Service: "test", DisplayName: "Tool " + id, Description: "Does " + id + ".",
		CommandName: "/" + id, InputSchema: registry.InputSchema{},
	}
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	text := registry.InputField{Name: "prompt", Type: registry.TypeString}
	input := func(f registry.InputField) func(*registry.Tool) {
		return func(x *registry.Tool) { x.InputSchema = registry.InputSchema{f} }
	}
	number := func(change func(*registry.InputField)) func(*registry.Tool) {
		f := registry.InputField{Name: "a", Type: registry.TypeNumber}
		change(&f)
		return input(f)
	}
	costing := func(rate, unit, source string) func(*registry.Tool) {
		return func(x *registry.Tool) {
			x.CostingModel = &registry.CostingModel{Rate: json.Number(rate), Unit: registry.CostUnit(unit), RateSource: registry.RateSource(source)}
		}
	}
	for name, c := range map[string]struct {
		spoil func(*registry.Tool)
		field string
		want  string
	}{
		"A4 no toolId":                {func(x *registry.Tool) { x.ToolID = "" }, "toolId", "missing"},
		"A4 toolId with a blank":      {func(x *registry.Tool) { x.ToolID = "a b" }, "toolId", "one word"},
		"A4 endless toolId":           {func(x *registry.Tool) { x.ToolID = strings.Repeat("x", 129) }, "toolId", "longer"},
		"A5 no service":               {func(x *registry.Tool) { x.Service = "" }, "service", "missing"},
		"A6 no displayName":           {func(x *registry.Tool) { x.DisplayName = " " }, "displayName", "missing"},
		"A8 command without slash":    {func(x *registry.Tool) { x.CommandName = "draw" }, "commandName", `"/draw"`},
		"A8 command of two words":     {func(x *registry.Tool) { x.CommandName = "dark room" }, "commandName", "lower-case"},
		"A8 command with capitals":    {func(x *registry.Tool) { x.CommandName = "/Draw" }, "commandName", "lower-case"},
		"A8 endless command":          {func(x *registry.Tool) { x.CommandName = "/" + strings.Repeat("x", 33) }, "commandName", "32"},
		"A9 relative apiPath":         {func(x *registry.Tool) { x.APIPath = "api/run" }, "apiPath", "absolute"},
		"A9 apiPath that climbs":      {func(x *registry.Tool) { x.APIPath = "/api/../admin" }, "apiPath", "clean"},
		"A10 no inputSchema":          {func(x *registry.Tool) { x.InputSchema = nil }, "inputSchema", "missing"},
		"A18 eighth type":             {input(registry.InputField{Name: "a", Type: "colour"}), "inputSchema.a.type", "string, number, image, video, audio, file, boolean"},
		"input without name":          {input(registry.InputField{Type: "string"}), "inputSchema.", "name"},
		"A20 default of another type": {number(func(f *registry.InputField) { f.Default = "20" }), "inputSchema.a.default", `the text "20"`},
		"A20 default word for a flag": {input(registry.InputField{Name: "a", Type: "boolean", Default: "yes"}), "inputSchema.a.default", "boolean"},
		"A20 default out of range":    {number(func(f *registry.InputField) { f.Max, f.Default = "5", json.Number("6") }), "inputSchema.a.default", "too large"},
		"A20 default not in choices":  {input(registry.InputField{Name: "a", Type: "string", Default: "c", Choices: []registry.Choice{{Value: "b"}}}), "inputSchema.a.default", "not among the choices"},
		"A20 default float":           {number(func(f *registry.InputField) { f.Default = 1.5 }), "inputSchema.a.default", "json.Number"},
		"choice of another type":      {number(func(f *registry.InputField) { f.Choices = []registry.Choice{{Value: "b"}} }), "inputSchema.a.choices[0]", "number"},
		"choice twice": {number(func(f *registry.InputField) {
			f.Choices = []registry.Choice{{Value: json.Number("1")}, {Value: json.Number("1.0")}}
		}), "inputSchema.a.choices[1]", "twice"},
		"text of a choice twice":         {input(registry.InputField{Name: "a", Type: "string", Choices: []registry.Choice{{Value: "b"}, {Value: "c"}, {Value: "b", Label: "B"}}}), "inputSchema.a.choices[2]", "twice"},
		"choices of a file":              {input(registry.InputField{Name: "a", Type: "image", Choices: []registry.Choice{{Value: "b"}}}), "inputSchema.a.choices", "image"},
		"min above max":                  {number(func(f *registry.InputField) { f.Min, f.Max = "5", "4" }), "inputSchema.a.min", "above the maximum"},
		"step of zero":                   {number(func(f *registry.InputField) { f.Step = "0" }), "inputSchema.a.step", "above zero"},
		"min that is no number":          {number(func(f *registry.InputField) { f.Min = "low" }), "inputSchema.a.min", "not a number"},
		"min of a text":                  {input(registry.InputField{Name: "a", Type: "string", Min: "1"}), "inputSchema.a.min", "for inputs of type number"},
		"multiline number":               {number(func(f *registry.InputField) { f.Multiline = true }), "inputSchema.a.multiline", "type string"},
		"negative order":                 {number(func(f *registry.InputField) { f.Order = -1 }), "inputSchema.a.order", "negative"},
		"schema that is none":            {input(registry.InputField{Name: "a", Type: "string", Schema: json.RawMessage(`{"type":"nope"}`)}), "inputSchema.a.schema", "JSON Schema"},
		"schema from elsewhere":          {input(registry.InputField{Name: "a", Type: "string", Schema: json.RawMessage(`{"$ref":"file:///etc/passwd"}`)}), "inputSchema.a.schema", "JSON Schema"},
		"two inputs of one name":         {func(x *registry.Tool) { x.InputSchema = registry.InputSchema{text, text} }, "inputSchema.prompt", "two inputs"},
		"A12 output of unknown type":     {func(x *registry.Tool) { x.OutputSchema = registry.OutputSchema{{Name: "o", Type: "hologram"}} }, "outputSchema.o.type", "text"},
		"A23 negative rate":              {costing("-0.1", "second", "static"), "costingModel.rate", "negative"},
		"A23 rate that is no number":     {costing("cheap", "second", "static"), "costingModel.rate", "not a number"},
		"A23 static without rate":        {costing("", "second", "static"), "costingModel.rate", "missing"},
		"A24-A26 unknown unit":           {costing("1", "hour", "static"), "costingModel.unit", "second, token, request"},
		"A24-A26 no unit":                {costing("1", "", "static"), "costingModel.unit", "missing"},
		"A27-A29 unknown source":         {costing("1", "second", "guess"), "costingModel.rateSource", "static, machine, api, historical"},
		"A32 no status field":            {func(x *registry.Tool) { x.WebhookStrategy = &registry.WebhookConfig{SuccessValue: "ok"} }, "webhookStrategy.expectedStatusField", "missing"},
		"A33 no success value":           {func(x *registry.Tool) { x.WebhookStrategy = &registry.WebhookConfig{ExpectedStatusField: "s"} }, "webhookStrategy.successValue", "missing"},
		"A36 unknown primary input":      {func(x *registry.Tool) { x.PlatformHints = &registry.PlatformHints{PrimaryInput: "smell"} }, "platformHints.primaryInput", "text, image, video, audio, file"},
		"A80 unknown state":              {func(x *registry.Tool) { x.Status = &registry.Status{State: "gone"} }, "status.state", "deprecated"},
		"A80 unavailable without reason": {func(x *registry.Tool) { x.Status = &registry.Status{State: registry.StateUnavailable} }, "status.reason", "why"},
		"A80 replaced by itself":         {func(x *registry.Tool) { x.Status = &registry.Status{State: registry.StateDeprecated, Replacement: "x"} }, "status.replacement", "itself"},
		"A81 unknown visibility":         {func(x *registry.Tool) { x.Visibility = "secret" }, "visibility", "public, internal, hidden"},
		"a follow nobody knows":          {func(x *registry.Tool) { x.Follows = "after" }, "follows", "vary, upscale, animate, edit, none"},
		"a role of a text": {func(x *registry.Tool) {
			x.InputSchema = registry.InputSchema{{Name: "prompt", Type: registry.TypeString, Role: registry.RoleStrength}}
		}, "inputSchema.prompt.role", "for inputs of type number"},
		"A87 wrong delivery mode":       {func(x *registry.Tool) { x.DeliveryMode = "pigeon" }, "deliveryMode", "immediate, webhook, async"},
		"A88 rename to no input":        {func(x *registry.Tool) { x.Migrations = []registry.Rename{{From: "a", To: "b"}} }, "migrations[0].to", "no input"},
		"A88 human default of no input": {func(x *registry.Tool) { x.HumanDefaults = map[string]any{"b": "c"} }, "humanDefaults.b", "no input"},
		"unknown capability":            {func(x *registry.Tool) { x.Capability = "fly" }, "capability", "read, write"},
		"negative timeout":              {func(x *registry.Tool) { x.TimeoutMs = -1 }, "timeoutMs", "allowed"},
		"no attempt":                    {func(x *registry.Tool) { x.RetryPolicy = &registry.RetryPolicy{} }, "retryPolicy.maxAttempts", "allowed"},
		"alias twice":                   {func(x *registry.Tool) { x.Aliases = []string{"a", "a"} }, "aliases[1]", "twice"},
		"alias of itself":               {func(x *registry.Tool) { x.Aliases = []string{"/x"} }, "aliases[0]", "own name"},
		"unknown way to send":           {func(x *registry.Tool) { x.Delivery = registry.Delivery{"telegram": {SendAs: "letter"}} }, "delivery.telegram.sendAs", "document"},
		"an address that is no input":   {func(x *registry.Tool) { x.Reaches = []string{"url"} }, "reaches", "no input"},
		"empty tag":                     {func(x *registry.Tool) { x.IntentTags = []string{""} }, "intentTags", "empty"},
		"metadata that JSON has not":    {func(x *registry.Tool) { x.Metadata = map[string]any{"a": []any{make(chan int)}} }, "", "unsupported type"},
		"metadata that holds itself":    {func(x *registry.Tool) { x.Metadata = map[string]any{}; x.Metadata["a"] = x.Metadata }, "", "cycle"},
		"a number that is none": {func(x *registry.Tool) {
			x.Metadata = map[string]any{"a": json.Number("1e")}
		}, "", "invalid number"},
		"A6 a name that can't be shown":              {func(x *registry.Tool) { x.DisplayName = "A\x00B" }, "displayName", "U+0000"},
		"A7 a text that can't be stored":             {func(x *registry.Tool) { x.Description = "A\x00B" }, "description", "U+0000"},
		"A29 no rate to quote a run by":              {costing("", "request", "api"), "costingModel.rate", "missing"},
		"A28 no rate where the machine is not known": {costing("", "second", "machine"), "costingModel.rate", "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := simple("x")
			c.spoil(&tool)
			err := validate.Tool(tool)
			var problems registry.Problems
			if !errors.As(err, &problems) || len(problems) != 1 {
				t.Fatalf("got %v, want one problem", err)
			}
			if problems[0].ToolID != tool.ToolID || problems[0].Field != c.field {
				t.Errorf("names tool %q, field %q", problems[0].ToolID, problems[0].Field)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error lacks %q:\n%v", c.want, err)
			}
		})
	}
}

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	t.Run("A10 an empty inputSchema, A7 A13 A14 A15 nothing optional", func(t *testing.T) {
		t.Parallel()
		if err := validate.Tool(registry.Tool{ToolID: "x", Service: "s", DisplayName: "X", InputSchema: registry.InputSchema{}}); err != nil {
			t.Error(err)
		}
	})
	t.Run("A18 each of the seven types", func(t *testing.T) {
		t.Parallel()
		for kind := range strings.FieldsSeq("string number image video audio file boolean") {
			tool := simple("x")
			tool.InputSchema = registry.InputSchema{{Name: "a", Type: registry.InputType(kind)}}
			if err := validate.Tool(tool); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("A89 historical rates beside the original three", func(t *testing.T) {
		t.Parallel()
		for _, source := range []registry.RateSource{registry.RateStatic, registry.RateMachine, registry.RateAPI, registry.RateHistorical} {
			tool := simple("x")
			tool.CostingModel = &registry.CostingModel{Rate: "0", Unit: registry.UnitToken, RateSource: source}
			if err := validate.Tool(tool); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("all problems at once", func(t *testing.T) {
		t.Parallel()
		var problems registry.Problems
		err := validate.Tool(registry.Tool{ToolID: "x", Listing: registry.Listing{Visibility: "secret"}})
		if !errors.As(err, &problems) || len(problems) != 4 {
			t.Errorf("got %v", err)
		}
	})
}

func TestSharesAreChecked(t *testing.T) {
	t.Parallel()
	const ann = "0198f000-0000-7000-8000-00000000000a"
	for share, sound := range map[registry.Share]bool{
		{Author: ann, Percent: "10"}: true, {Author: ann, USD: "0.01"}: true,
		{Author: "ann", Percent: "10"}: false, {Percent: "10"}: false, {Author: ann}: false,
		{Author: ann, Percent: "10", USD: "1"}: false, {Author: ann, Percent: "101"}: false, {Author: ann, Percent: "-1"}: false,
	} {
		tool := registrytest.Tool("shared", func(t *registry.Tool) {
			t.CostingModel = &registry.CostingModel{Rate: "1", Unit: registry.UnitRequest, RateSource: registry.RateStatic, Share: &share}
		})
		if err := validate.Tool(tool); (err == nil) != sound {
			t.Errorf("%+v: %v", share, err)
		}
	}
}

func TestMasks(t *testing.T) {
	t.Parallel()
	t.Run("only pictures mark, in the known ways", func(t *testing.T) {
		for _, f := range []registry.InputField{{Name: "a", Type: registry.TypeString, Mask: registry.MaskWhite}, {Name: "a", Type: registry.TypeImage, Mask: "black"}} {
			err := validate.Tool(registry.Tool{ToolID: "t", Service: "s", DisplayName: "T", InputSchema: registry.InputSchema{f}})
			if err == nil || !strings.Contains(err.Error(), "mask") {
				t.Errorf("%+v: %v", f, err)
			}
		}
	})
}
