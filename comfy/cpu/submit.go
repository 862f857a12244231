package cpu

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/reply"
)

// secretKeys are the members of extra_data that neither queue nor history may show.
var secretKeys = []string{"auth_token_comfy_org", "api_key_comfy_org"}

var canonicalUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

func (e *Engine) getPrompt(w http.ResponseWriter, _ *http.Request) error {
	return reply.JSON(w, http.StatusOK, pyval.D("exec_info", pyval.D("queue_remaining", int64(e.queue.remaining()))))
}

// refuse answers 400 to a prompt that was not accepted.
func refuse(w http.ResponseWriter, reason, nodes *pyval.Dict) error {
	return reply.JSON(w, http.StatusBadRequest, pyval.D("error", reason, "node_errors", nodes))
}

func (e *Engine) postPrompt(w http.ResponseWriter, r *http.Request) error {
	e.logs.add("got prompt")
	v, err := reply.Body(r)
	if err != nil {
		return err
	}
	d, err := bodyWith(v, "number", "prompt", "front")
	if err != nil {
		return err
	}
	number, err := e.number(d)
	if err != nil {
		return err
	}
	given, ok := d.Get("prompt")
	if !ok {
		return refuse(w, problem("no_prompt", "No prompt provided", "No prompt provided", &pyval.Dict{}), &pyval.Dict{})
	}
	id, ok := promptID(d.At("prompt_id"))
	if !ok {
		return refuse(w, problem("invalid_prompt_id", "prompt_id must be a valid UUID",
			"prompt_id must be a UUID string in canonical lowercase hyphenated form; omit it to let the server generate one", &pyval.Dict{}), &pyval.Dict{})
	}
	prompt, err := promptForm(given)
	if err != nil {
		return err
	}
	wanted, err := targets(d)
	if err != nil {
		return err
	}
	extra, reason, err := e.extraData(d, r.Header.Get("Comfy-Usage-Source"))
	if err != nil {
		return err
	}
	if reason != nil {
		return refuse(w, reason, &pyval.Dict{})
	}
	j, err := e.validate(prompt, wanted)
	if err != nil {
		return err
	}
	if j.refused != nil {
		return refuse(w, j.refused, j.nodes)
	}
	if extra == nil {
		return errors.New("extra_data is null")
	}
	extra.Set("create_time", e.cfg.Now().UnixMilli())
	e.queue.put(&item{number: number, id: id, prompt: prompt, extra: extra, outputs: j.outputs})
	return reply.JSON(w, http.StatusOK, pyval.D("prompt_id", id, "number", number, "node_errors", j.nodes))
}

// bodyWith gives a body as an object. Lists and texts count as objects without members, as long as they do not hold the names
// that are looked for; everything else is refused.
func bodyWith(v any, names ...string) (*pyval.Dict, error) {
	has := func(string) bool { return true }
	switch v := v.(type) {
	case *pyval.Dict:
		return v, nil
	case []any:
		has = func(name string) bool { return slices.Contains(texts(v), name) }
	case string:
		has = func(name string) bool { return strings.Contains(v, name) }
	}
	if slices.ContainsFunc(names, has) {
		return nil, errors.New("the body is not a JSON object")
	}
	return &pyval.Dict{}, nil
}

func texts(list []any) []string {
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// number gives the place in the queue: the client's own number as a float, else the next of the counter, negated for front.
func (e *Engine) number(d *pyval.Dict) (any, error) {
	if given, ok := d.Get("number"); ok {
		f, err := pyval.ToFloat(given)
		return f, err
	}
	n := e.queue.take()
	if pyval.Truth(d.At("front")) {
		n = -n
	}
	return n, nil
}

func promptID(given any) (string, bool) {
	if given == nil {
		return uuid.NewString(), true
	}
	id, ok := given.(string)
	return id, ok && canonicalUUID.MatchString(id)
}

// promptForm checks the outer form: an object of objects whose inputs, where given, are objects.
func promptForm(v any) (*pyval.Dict, error) {
	prompt, ok := v.(*pyval.Dict)
	if !ok {
		return nil, errors.New("prompt is not an object")
	}
	for _, id := range prompt.Keys() {
		n, ok := prompt.At(id).(*pyval.Dict)
		if !ok {
			return nil, fmt.Errorf("node %q is not an object", id)
		}
		if inputs, given := n.Get("inputs"); given {
			if _, ok := inputs.(*pyval.Dict); !ok {
				return nil, fmt.Errorf("the inputs of node %q are not an object", id)
			}
		}
		switch n.At("class_type").(type) {
		case []any, *pyval.Dict:
			return nil, fmt.Errorf("the class_type of node %q is not a text", id)
		}
	}
	return prompt, nil
}

// targets reads partial_execution_targets by the meaning of Python's "in".
func targets(d *pyval.Dict) (func(id string) bool, error) {
	switch t := d.At("partial_execution_targets").(type) {
	case nil:
		return nil, nil
	case string:
		return func(id string) bool { return strings.Contains(t, id) }, nil
	case []any:
		return func(id string) bool { return slices.Contains(texts(t), id) }, nil
	case *pyval.Dict:
		return func(id string) bool { _, ok := t.Get(id); return ok }, nil
	}
	return nil, errors.New("partial_execution_targets is not a list")
}

// extraData gives extra_data without secrets and with what the server adds. It is nil when the client gave null, which
// only matters once the prompt proves valid. A client_id that is a list or an object, which would end the real server, is
// refused.
func (e *Engine) extraData(d *pyval.Dict, usage string) (extra, reason *pyval.Dict, err error) {
	extra = &pyval.Dict{}
	client, hasClient := d.Get("client_id")
	if given, ok := d.Get("extra_data"); ok {
		if extra, ok = given.(*pyval.Dict); !ok {
			if given != nil || hasClient || usage != "" {
				return nil, nil, errors.New("extra_data is not an object")
			}
			return nil, nil, nil
		}
	}
	if hasClient {
		extra.Set("client_id", client)
	}
	switch extra.At("client_id").(type) {
	case []any, *pyval.Dict:
		return nil, problem("invalid_client_id", "client_id must be a text", "client_id must be the text under which the socket was opened", &pyval.Dict{}), nil
	}
	if usage != "" {
		extra.Set("comfy_usage_source", usage)
	}
	for _, key := range secretKeys {
		extra.Delete(key)
	}
	return extra, nil, nil
}
