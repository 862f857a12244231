package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/internal/jsonsample"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// snippet is a call of a tool in one language.
type snippet struct {
	Name string `json:"name"` // as people write it
	ID   string `json:"id"`
	Code string `json:"code"`
}

// code is the call that a form stands for, for programs: with the inputs that differ from the tool's own.
func (s *forms) code(r *http.Request, b runs.Bound) []snippet {
	inputs := calledWith(b)
	address := s.door.Site.Absolute(r, b.Tool.RunPath())
	return []snippet{
		{"curl", "curl", curlCode(address, inputs)},
		{"Python", "python", pythonCode(address, s.door.Site.Absolute(r, ""), inputs)},
		{"JavaScript", "javascript", scriptCode(address, s.door.Site.Absolute(r, ""), inputs)},
	}
}

// exactDigits are as many as JavaScript can tell apart in a number; longer ones are given as text, which tools take as well.
const exactDigits = 15

// elsewhere begins the address of a file that a program has to bring.
const elsewhere = "https://example.com/"

// calledWith are the inputs of a call as JSON, in the order of the tool.
func calledWith(b runs.Bound) string {
	var members []string
	for _, f := range b.Tool.InputSchema.Ordered() {
		value, given := b.Inputs[f.Name]
		switch source := b.Sources[f.Name]; {
		case given && (source == runs.FromDefault || source == runs.FromRandom || request.SameValue(value, f.Default)):
			continue
		case !given && !f.Required:
			continue
		case !given:
			value = placeholder(f)
		}
		if n, isNumber := value.(json.Number); isNumber && len(n) > exactDigits {
			value = n.String()
		}
		members = append(members, quoted(f.Name)+": "+quoted(value))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// placeholder shows what a required input takes that the form does not hold yet.
func placeholder(f registry.InputField) any {
	var value any = "..."
	switch {
	case f.Type.IsMedia():
		value = elsewhere + string(f.Type)
	case jsonsample.Of(f.Schema) != "":
		if value = json.RawMessage(jsonsample.Of(f.Schema)); f.SchemaOfList() {
			return value
		}
	case f.Type == registry.TypeNumber:
		value = 1
	case f.Type == registry.TypeBoolean:
		value = true
	}
	if f.Multiple {
		return []any{value}
	}
	return value
}

// quoted is JSON that reads as people write it: & and < stay.
func quoted(value any) string {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if err := out.Encode(value); err != nil {
		return "null"
	}
	return strings.TrimSpace(b.String())
}

func curlCode(address, inputs string) string {
	body := strings.ReplaceAll(`{"inputs": `+inputs+`}`, "'", `'\''`) // ends the quotes, says one, goes on
	return fmt.Sprintf("curl %s \\\n  -H \"Authorization: Bearer $SIGNALBOX_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  -d '%s'", address, body)
}

// pythonCode keeps the inputs as JSON text: what JSON calls true and null has other names in Python.
func pythonCode(address, site, inputs string) string {
	return fmt.Sprintf(`import json, os, time
import requests

session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["SIGNALBOX_KEY"]
inputs = json.loads(%s)
run = session.post(%s, json={"inputs": inputs}).json()
while run["status"] not in ("succeeded", "failed", "canceled", "timed_out"):
    time.sleep(1)
    run = session.get(%s + run["runId"]).json()
print(run["outputs"])`, quoted(inputs), quoted(address), quoted(site+"/api/runs/"))
}

func scriptCode(address, site, inputs string) string {
	return fmt.Sprintf(`const headers = { Authorization: "Bearer " + process.env.SIGNALBOX_KEY, "Content-Type": "application/json" };
const inputs = %s;
let run = await (await fetch(%s, { method: "POST", headers, body: JSON.stringify({ inputs }) })).json();
while (!["succeeded", "failed", "canceled", "timed_out"].includes(run.status)) {
  await new Promise((wake) => setTimeout(wake, 1000));
  run = await (await fetch(%s + run.runId, { headers })).json();
}
console.log(run.outputs);`, inputs, quoted(address), quoted(site+"/api/runs/"))
}
