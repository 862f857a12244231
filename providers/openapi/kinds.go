package openapi

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
)

const componentSchemas = "#/components/schemas/"

// tellKinds makes references to a schema whose discriminator stands alone, without oneOf, lead to a choice of the schemas that build on it:
// a value of it is one of those, by the word that its discriminator names. Where a schema builds on it, it stays the mere base.
func tellKinds(root *ordered.Object) {
	schemas := root.Object("components").Object("schemas")
	chosen, built := map[string]string{}, map[*ordered.Object]bool{} // what references to bases become, but for those of what is built on them
	for _, m := range slices.Clone(schemas.Members()) {
		base, _ := m.Value.(*ordered.Object)
		if base.Object("discriminator").Text("propertyName") == "" || base.Has("oneOf") || base.Has("anyOf") {
			continue
		}
		kinds := mappedKinds(schemas, base)
		if kinds == nil {
			kinds = builtOn(schemas, componentSchemas+m.Name)
		}
		if len(kinds) == 0 {
			continue
		}
		name := m.Name + kindsOf
		for schemas.Has(name) {
			name += kindsOf
		}
		cases := make([]any, len(kinds))
		for i, ref := range kinds {
			kind, _ := schemas.Get(strings.TrimPrefix(ref, componentSchemas)).(*ordered.Object)
			built[kind] = true
			cases[i] = ordered.Of(ordered.Member{Name: "$ref", Value: ref})
		}
		schemas.Set(name, ordered.Of(ordered.Member{Name: "oneOf", Value: cases}, ordered.Member{Name: "discriminator", Value: base.Get("discriminator")},
			ordered.Member{Name: "description", Value: base.Text("description")}))
		chosen[componentSchemas+m.Name] = componentSchemas + name
	}
	if len(chosen) > 0 {
		lead(root, chosen, built)
	}
}

// kindsOf ends the names of the choices that tellKinds adds to the document's components.
const kindsOf = "--kinds"

// mere is a reference to a choice of kinds as one to their base.
func mere(v any) any {
	o, _ := v.(*ordered.Object)
	if ref, is := strings.CutSuffix(o.Text("$ref"), kindsOf); is {
		return ordered.Of(ordered.Member{Name: "$ref", Value: ref})
	}
	return v
}

// mappedKinds are the schemas that a discriminator's mapping names, each once; nil where it has none, or names one that is not in the document.
func mappedKinds(schemas, base *ordered.Object) (kinds []string) {
	for _, m := range base.Object("discriminator").Object("mapping").Members() {
		ref, _ := m.Value.(string)
		if !strings.HasPrefix(ref, "#") {
			ref = componentSchemas + ref
		}
		if !schemas.Has(strings.TrimPrefix(ref, componentSchemas)) {
			return nil
		}
		if !slices.Contains(kinds, ref) {
			kinds = append(kinds, ref)
		}
	}
	return kinds
}

// builtOn are the schemas that have a base, or one that is built on it, in their allOf.
func builtOn(schemas *ordered.Object, base string) (kinds []string) {
	for from := []string{base}; len(from) > 0; from = from[1:] {
		for _, m := range schemas.Members() {
			ref, schema := componentSchemas+m.Name, m.Value
			o, _ := schema.(*ordered.Object)
			builds := slices.ContainsFunc(o.List("allOf"), func(part any) bool {
				p, _ := part.(*ordered.Object)
				return p.Text("$ref") == from[0]
			})
			if builds && ref != base && !slices.Contains(kinds, ref) {
				kinds, from = append(kinds, ref), append(from, ref)
			}
		}
	}
	return kinds
}

// lead changes references, except where a schema builds on what it refers to.
func lead(v any, to map[string]string, built map[*ordered.Object]bool) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			lead(one, to, built)
		}
	case *ordered.Object:
		if next := to[v.Text("$ref")]; next != "" {
			v.Set("$ref", next)
		}
		_, only := lone(v) // an allOf of one is how a reference gets a description in 3.0
		for _, m := range v.Members() {
			parts, isList := m.Value.([]any)
			if m.Name != "allOf" || !isList || only && !built[v] {
				lead(m.Value, to, built)
				continue
			}
			for _, part := range parts {
				if o, _ := part.(*ordered.Object); !o.Has("$ref") {
					lead(part, to, built)
				}
			}
		}
	}
}
