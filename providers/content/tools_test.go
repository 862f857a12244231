package content_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/registry/validate"
)

func TestTools(t *testing.T) {
	t.Parallel()
	list, err := content.New(content.Config{}).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("D6 D7 25 tools of category internal, in families of 4, 5, 4, 4, 4, 4", func(t *testing.T) {
		families := map[string]int{}
		for _, tool := range list {
			thing := regexp.MustCompile(`^(get|create|update|delete)`).ReplaceAllString(tool.ToolID, "")
			families[strings.TrimSuffix(thing, "Template")]++
			if tool.Category != "internal" {
				t.Errorf("%s has the category %s", tool.ToolID, tool.Category)
			}
		}
		if want := map[string]int{"Page": 4, "Section": 5, "Image": 4, "Post": 4, "NavItem": 4, "Entry": 4}; len(list) != 25 || !maps.Equal(families, want) {
			t.Errorf("%d tools: %v", len(list), families)
		}
	})
	t.Run("D1 D2 D4 names are a verb and a thing", func(t *testing.T) {
		for _, tool := range list {
			if !regexp.MustCompile(`^(get|create|update|delete)[A-Z][A-Za-z]+$`).MatchString(tool.ToolID) || strings.Contains(tool.ToolID, "cms_") {
				t.Errorf("%s", tool.ToolID)
			}
		}
	})
	t.Run("D3 D76 D153 no lists, no variants, nothing for navigations, collections and languages", func(t *testing.T) {
		for _, tool := range list {
			if regexp.MustCompile(`(?i)list|publish|archive|toggle|Navigation$|Collection$|Locale$|reorder`).MatchString(tool.ToolID) {
				t.Errorf("%s", tool.ToolID)
			}
		}
	})
	t.Run("D104 D105 descriptions begin with the verb and the thing, and say what comes back; each input is described", func(t *testing.T) {
		for _, tool := range list {
			verb := regexp.MustCompile(`^[a-z]+`).FindString(tool.ToolID)
			if !strings.HasPrefix(strings.ToLower(tool.Description), verb+" ") && !strings.HasPrefix(strings.ToLower(tool.Description), verb+" what ") || !strings.Contains(tool.Description, "Returns") {
				t.Errorf("%s: %s", tool.ToolID, tool.Description)
			}
			for _, f := range tool.InputSchema {
				if f.Description == "" {
					t.Errorf("%s: %s has no description", tool.ToolID, f.Name)
				}
			}
			if err := validate.Tool(tool); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("D100 D102 deletes take lists, creates and updates one", func(t *testing.T) {
		for _, tool := range list {
			isDelete := strings.HasPrefix(tool.ToolID, "delete")
			several := slices.ContainsFunc(tool.InputSchema, func(f registry.InputField) bool {
				return f.Multiple && f.Required && strings.HasSuffix(f.Name, "s")
			})
			if several != isDelete {
				t.Errorf("%s", tool.ToolID)
			}
		}
	})
	t.Run("gets read, all others write", func(t *testing.T) {
		for _, tool := range list {
			if got := tool.Capability == registry.CapabilityRead; got != strings.HasPrefix(tool.ToolID, "get") {
				t.Errorf("%s: %s", tool.ToolID, tool.Capability)
			}
		}
	})
}

func TestContracts(t *testing.T) {
	t.Parallel()
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		return registrytest.LoaderSetup{Loader: contenttest.New(t)}
	})
	registrytest.TestCaller(t, func(t *testing.T) registrytest.CallerSetup {
		h := contenttest.New(t)
		return registrytest.CallerSetup{
			Caller: h, Secret: "none",
			Call: func() registry.Call {
				c, err := h.Prepare(contenttest.Operator, "createEntry", object{"collectionId": "glossary", "slug": h.Slug(), "title": "T"})
				if err != nil {
					t.Fatal(err)
				}
				return c
			},
			Received: func() int { return len(h.Items("getEntry", object{"all": true})) },
		}
	})
}
