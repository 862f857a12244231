package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// versionDigits is the length of a Version in hex digits.
const versionDigits = 12

// Encode writes the definition as canonical JSON: known members in the order of the contract, inputs
// and outputs in their own order, keys of free-form objects sorted, numbers digit by digit as they
// came, no blanks. Equal tools give equal bytes, and DecodeTool reads them back equal.
func Encode(t Tool) ([]byte, error) {
	data, err := marshalPlain(t)
	if err != nil {
		return nil, fmt.Errorf("tool %q: encode definition: %w", t.ToolID, err)
	}
	return data, nil
}

// MarshalJSON writes the bare value, or {"value": ..., "label": ...} where there is a label or the
// value is itself an object.
func (c Choice) MarshalJSON() ([]byte, error) {
	if _, isObject := c.Value.(map[string]any); c.Label == "" && !isObject {
		return marshalPlain(c.Value)
	}
	return marshalPlain(struct {
		Value any    `json:"value"`
		Label string `json:"label,omitempty"`
	}{c.Value, c.Label})
}

// Seal sets Version to the hash of everything in the definition but its version and its status, so
// that a service that goes down and comes back does not look like a new tool. Nor does one whose
// address is written out that it has anyway.
func (t *Tool) Seal() error {
	bare := *t
	bare.Version, bare.Status = "", nil
	if bare.APIPath == defaultRunPath(bare.ToolID) {
		bare.APIPath = ""
	}
	data, err := Encode(bare)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	t.Version = hex.EncodeToString(sum[:])[:versionDigits]
	return nil
}

// Clone gives a copy that shares nothing with t.
func (t Tool) Clone() Tool {
	t.InputSchema = t.InputSchema.Clone()
	t.OutputSchema = slices.Clone(t.OutputSchema)
	for i := range t.OutputSchema {
		t.OutputSchema[i].Schema = slices.Clone(t.OutputSchema[i].Schema)
	}
	t.CostingModel = clonePointer(t.CostingModel)
	t.WebhookStrategy = clonePointer(t.WebhookStrategy)
	if t.WebhookStrategy != nil {
		w := t.WebhookStrategy
		for _, list := range []*[]string{&w.ResultPath, &w.FailureValues, &w.PendingValues, &w.ErrorPath, &w.CostPath, &w.IDPath} {
			*list = slices.Clone(*list)
		}
	}
	t.PlatformHints = clonePointer(t.PlatformHints)
	t.Metadata = cloneObject(t.Metadata)
	t.Status = clonePointer(t.Status)
	t.Aliases = slices.Clone(t.Aliases)
	t.RetryPolicy = clonePointer(t.RetryPolicy)
	t.PIIRequired = slices.Clone(t.PIIRequired)
	t.IntentTags = slices.Clone(t.IntentTags)
	t.Migrations = slices.Clone(t.Migrations)
	for i := range t.Migrations {
		t.Migrations[i].When = cloneObject(t.Migrations[i].When)
	}
	t.Delivery = maps.Clone(t.Delivery)
	t.HumanDefaults = cloneObject(t.HumanDefaults)
	return t
}

// Clone gives a copy that shares nothing with s.
func (s InputSchema) Clone() InputSchema {
	copied := slices.Clone(s)
	for i := range copied {
		f := &copied[i]
		f.Default = cloneValue(f.Default)
		f.Choices = slices.Clone(f.Choices)
		for j := range f.Choices {
			f.Choices[j].Value = cloneValue(f.Choices[j].Value)
		}
		f.Schema = slices.Clone(f.Schema)
	}
	return copied
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	copied := *p
	return &copied
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneObject(v)
	case []any:
		copied := slices.Clone(v)
		for i := range copied {
			copied[i] = cloneValue(copied[i])
		}
		return copied
	case json.RawMessage:
		return slices.Clone(v)
	}
	return v
}

func cloneObject(m map[string]any) map[string]any {
	copied := maps.Clone(m)
	for k, v := range copied {
		copied[k] = cloneValue(v)
	}
	return copied
}
