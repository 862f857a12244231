package registry_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/registry/validate"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	tool := mustDecode(t, registrytest.Complete)

	t.Run("A2 A4-A16 every member of the contract is read and is valid", func(t *testing.T) {
		t.Parallel()
		if err := validate.Tool(tool); err != nil {
			t.Error(err)
		}
		if tool.WebhookStrategy.ResultPath[1] != "0" || tool.RetryPolicy.BackoffMs != 500 || tool.Delivery["telegram"].SendAs != "document" ||
			tool.Migrations[0].When["mode"] != "simple" || tool.Status.Replacement != "flux2" || tool.CostingModel.Rate != "0.000337" {
			t.Errorf("lost something: %+v", tool)
		}
	})
	t.Run("groups of members are flat in JSON", func(t *testing.T) {
		t.Parallel()
		var members map[string]any
		if err := json.Unmarshal([]byte(mustEncode(t, tool)), &members); err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(registrytest.Complete), &want); err != nil {
			t.Fatal(err)
		}
		if got, want := slices.Sorted(maps.Keys(members)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, want) {
			t.Errorf("members %s, want %s", got, want)
		}
	})
	t.Run("A10 order of inputs survives", func(t *testing.T) {
		t.Parallel()
		var names []string
		for _, f := range mustDecode(t, mustEncode(t, tool)).InputSchema {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != "prompt width cfg seed sampler upscale" {
			t.Errorf("order is %s", got)
		}
	})
	t.Run("A16 metadata and 64-bit numbers survive byte by byte", func(t *testing.T) {
		t.Parallel()
		once := mustEncode(t, tool)
		twice := mustEncode(t, mustDecode(t, once))
		if once != twice {
			t.Errorf("changed:\n%s\n%s", once, twice)
		}
		for _, want := range []string{`"metadata":{"a":"x","b":{"a":[1.50,"<&>",null,true],"z":9007199254740993}}`, `"default":18446744073709551615`, `"default":3.50`} {
			if !strings.Contains(once, want) {
				t.Errorf("lacks %s:\n%s", want, once)
			}
		}
	})
	t.Run("A18 choices have two forms", func(t *testing.T) {
		t.Parallel()
		f, _ := tool.InputSchema.Get("sampler")
		if f.Choices[0].Text() != "euler" || f.Choices[1].Text() != "DPM++ 2M" || f.Choices[1].Value != "dpmpp_2m" {
			t.Errorf("choices: %+v", f.Choices)
		}
		if !strings.Contains(mustEncode(t, tool), `"choices":["euler",{"value":"dpmpp_2m","label":"DPM++ 2M"}]`) {
			t.Error("choices are written in another form")
		}
	})
	t.Run("encoding/json reads and writes the same", func(t *testing.T) {
		t.Parallel()
		data, err := json.Marshal(map[string]any{"tool": tool})
		if err != nil {
			t.Fatal(err)
		}
		var back struct{ Tool registry.Tool }
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if mustEncode(t, back.Tool) != mustEncode(t, tool) {
			t.Error("differs")
		}
	})
}

func TestDecodeForms(t *testing.T) {
	t.Parallel()
	one := `{"toolId":"a","service":"s","displayName":"A","inputSchema":{}}`
	two := `{"toolId":"b","service":"s","displayName":"B","inputSchema":{}}`
	for name, text := range map[string]string{
		"array": "[" + one + "," + two + "]", "wrapped": `{"tools":[` + one + "," + two + "]}", "byte order mark": "\xef\xbb\xbf[" + one + "," + two + "]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools, err := registry.DecodeTools([]byte(text))
			if err != nil || len(tools) != 2 || tools[0].ToolID != "a" || tools[1].ToolID != "b" {
				t.Errorf("got %v, %v", tools, err)
			}
		})
	}
	t.Run("object", func(t *testing.T) {
		t.Parallel()
		if tools, err := registry.DecodeTools([]byte(one)); err != nil || len(tools) != 1 {
			t.Errorf("got %v, %v", tools, err)
		}
	})
	t.Run("A4 a copy that says the same is no mistake", func(t *testing.T) {
		t.Parallel()
		if tools, err := registry.DecodeTools([]byte("[" + one + "," + two + "," + one + "]")); err != nil || len(tools) != 2 {
			t.Errorf("got %v, %v", tools, err)
		}
	})
	t.Run("good ones survive a bad neighbour", func(t *testing.T) {
		t.Parallel()
		tools, err := registry.DecodeTools([]byte("[" + one + `,{"toolId":"bad","colour":1},` + two + "]"))
		wantContains(t, err, `"bad"`, "colour")
		if len(tools) != 2 {
			t.Errorf("got %d tools", len(tools))
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"unknown key with the nearest known":    {`{"toolId":"x","displayname":"X"}`, []string{`tool "x": displayname: unknown key; did you mean "displayName"?`}},
		"unknown key of an input":               {`{"toolId":"x","inputSchema":{"a":{"name":"a","typ":"string"}}}`, []string{`inputSchema.a.typ`, `"type"`}},
		"A17 key and name differ":               {`{"toolId":"x","inputSchema":{"a":{"name":"b","type":"string"}}}`, []string{`tool "x": inputSchema.a.name`, `"b"`, `"a"`, "equal"}},
		"wrong type":                            {`{"toolId":"x","service":5}`, []string{`tool "x": service: must be of type string, found number 5`}},
		"string for a flag":                     {`{"toolId":"x","idempotent":"yes"}`, []string{"idempotent", "boolean"}},
		"fraction for a count":                  {`{"toolId":"x","timeoutMs":1.5}`, []string{"timeoutMs", "whole number"}},
		"repeated key":                          {`{"toolId":"x","service":"a","service":"b"}`, []string{"service: the key appears twice"}},
		"repeated key in metadata":              {`{"toolId":"x","metadata":{"a":{"b":1,"b":2}}}`, []string{"metadata.a.b"}},
		"A4 one id twice in a document":         {`[{"toolId":"x","inputSchema":{}},{"toolId":"x","service":"s","inputSchema":{}}]`, []string{`tool "x": toolId: appears twice`}},
		"tool without id is called by place":    {`[{"toolId":"x"},{"nome":"y"}]`, []string{`"tool 2"`, "nome"}},
		"several problems at once":              {`{"toolId":"x","service":5,"kindd":"z"}`, []string{"service", "kindd"}},
		"text after the end":                    {`{"toolId":"x"} {}`, []string{"line 1", "something follows"}},
		"cut off":                               {`{"toolId":`, []string{"line 1", "ends too early"}},
		"syntax with its place":                 {"{\n  \"toolId\": nope}", []string{"line 2"}},
		"no object":                             {`5`, []string{"must be an object"}},
		"too deep":                              {strings.Repeat("[", 201) + strings.Repeat("]", 201), []string{"nested deeper"}},
		"choice object without value":           {`{"toolId":"x","inputSchema":{"a":{"name":"a","type":"string","choices":[{"label":"L"}]}}}`, []string{"choices[0]", "value is missing"}},
		"foreign key beside tools":              {`{"tools":[],"toolz":[]}`, []string{"toolz"}},
		"A89 both forms of a price":             {`{"toolId":"x","costingModel":{"rate":1,"unit":"request","rateSource":"static","staticCost":{"amount":2}}}`, []string{"costingModel.staticCost", "cannot stand beside"}},
		"elements of a list of words":           {`{"toolId":"x","aliases":["a",5]}`, []string{"aliases[1]"}},
		"list where an object is wanted":        {`{"toolId":"x","inputSchema":[]}`, []string{"inputSchema", "object", "array"}},
		"unknown key in a nested configuration": {`{"toolId":"x","webhookStrategy":{"succesValue":"ok"}}`, []string{"webhookStrategy.succesValue", "successValue"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := registry.DecodeTools([]byte(c.text))
			wantContains(t, err, c.want...)
		})
	}
	t.Run("A89 staticCost is taken as rate and unit", func(t *testing.T) {
		t.Parallel()
		tool := mustDecode(t, `{"toolId":"x","costingModel":{"rateSource":"static","staticCost":{"amount":0.04,"unit":"run"}}}`)
		if *tool.CostingModel != (registry.CostingModel{Rate: "0.04", Unit: registry.UnitRequest, RateSource: registry.RateStatic}) {
			t.Errorf("got %+v", tool.CostingModel)
		}
	})
	t.Run("the error is a list of Problems", func(t *testing.T) {
		t.Parallel()
		_, err := registry.DecodeTool([]byte(`{"toolId":"x","a":1,"b":2}`))
		var problems registry.Problems
		if !errors.As(err, &problems) || len(problems) != 2 || problems[0].ToolID != "x" || problems[0].Field != "a" {
			t.Errorf("got %#v", err)
		}
	})
}

func TestDecodeStored(t *testing.T) {
	t.Parallel()
	t.Run("what a later version added is passed over", func(t *testing.T) {
		t.Parallel()
		tool, err := registry.DecodeStoredTool([]byte(`{"toolId":"x","later":{"a":1},"inputSchema":{"a":{"name":"a","type":"string","later":1,"choices":[{"value":"b","later":1}]}},
			"costingModel":{"rate":0.03,"unit":"request","rateSource":"api","later":true}}`))
		if err != nil {
			t.Fatal(err)
		}
		if tool.ToolID != "x" || len(tool.InputSchema) != 1 || tool.InputSchema[0].Type != registry.TypeString || len(tool.InputSchema[0].Choices) != 1 || tool.CostingModel.Rate != "0.03" {
			t.Errorf("got %+v", tool)
		}
	})
	t.Run("so is what it added to a question", func(t *testing.T) {
		t.Parallel()
		var q registry.Question
		if err := json.Unmarshal([]byte(`{"message":"Which?","later":1,"fields":[{"name":"a","type":"string","later":1}]}`), &q); err != nil {
			t.Fatal(err)
		}
		if q.Message != "Which?" || len(q.Fields) != 1 || q.Fields[0].Type != registry.TypeString {
			t.Errorf("got %+v", q)
		}
	})
	t.Run("what can't be read is refused", func(t *testing.T) {
		t.Parallel()
		_, err := registry.DecodeStoredTool([]byte(`{"toolId":"x","costingModel":{"rate":"a lot"}}`))
		wantContains(t, err, `tool "x": costingModel.rate: must be of type number`)
	})
}

func TestSealAndClone(t *testing.T) {
	t.Parallel()
	seal := func(t *testing.T, tool registry.Tool) string {
		if err := tool.Seal(); err != nil {
			t.Fatal(err)
		}
		return tool.Version
	}
	t.Run("A79 the version is of the content, not of version and status", func(t *testing.T) {
		t.Parallel()
		tool := mustDecode(t, registrytest.Complete)
		before := seal(t, tool)
		tool.Status, tool.Version = nil, "something"
		if after := seal(t, tool); after != before || len(after) != 12 {
			t.Errorf("%s became %s", before, after)
		}
		tool.InputSchema[1].Default = json.Number("512")
		if seal(t, tool) == before {
			t.Error("a changed default did not change the version")
		}
	})
	t.Run("A42 a clone shares nothing", func(t *testing.T) {
		t.Parallel()
		tool := mustDecode(t, registrytest.Complete)
		before := mustEncode(t, tool)
		scribble(tool.Clone())
		if after := mustEncode(t, tool); after != before {
			t.Errorf("the original changed:\n%s\n%s", before, after)
		}
	})
}

// scribble writes into everything a tool refers to.
func scribble(c registry.Tool) {
	c.InputSchema[0].Name = "!"
	c.InputSchema[4].Choices[0].Value = "!"
	c.OutputSchema[0].Name = "!"
	c.CostingModel.Rate = "9"
	c.WebhookStrategy.ResultPath[0] = "!"
	c.WebhookStrategy.SuccessValue = "!"
	c.PlatformHints.PrimaryInput = "!"
	c.Metadata["a"] = "!"
	c.Metadata["b"].(map[string]any)["z"] = "!"
	c.Metadata["b"].(map[string]any)["a"].([]any)[0] = "!"
	c.Status.Reason = "!"
	c.Aliases[0] = "!"
	c.RetryPolicy.MaxAttempts = 9
	c.PIIRequired[0] = "!"
	c.IntentTags[0] = "!"
	c.Migrations[0].To = "!"
	c.Migrations[0].When["mode"] = "!"
	c.Delivery["telegram"] = registry.DeliveryHint{}
	c.HumanDefaults["width"] = "!"
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(registrytest.Complete))
	f.Add([]byte(`[{"toolId":"a","inputSchema":{"x":{"name":"x","type":"number","default":1e5}}}]`))
	f.Add([]byte(`{"tools":[{"toolId":"\u0000","metadata":{"":[[],{}]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tools, err := registry.DecodeTools(data)
		if err != nil {
			return
		}
		for _, tool := range tools {
			_ = validate.Tool(tool)
			once := mustEncode(t, tool)
			back, err := registry.DecodeTool([]byte(once))
			if err != nil {
				t.Fatalf("its own encoding is refused: %v\n%s", err, once)
			}
			if twice := mustEncode(t, back); twice != once {
				t.Fatalf("not stable:\n%s\n%s", once, twice)
			}
		}
	})
}
