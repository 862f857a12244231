package mcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spoken is what one result of a tool said to the client.
type spoken struct {
	IsError    bool
	Text       string
	Links      []string
	Structured map[string]any
}

// seen is what nodecheck/client.mjs saw.
type seen struct {
	Version, Server string
	Tools           []struct {
		Name, Description string
		ReadOnly          bool
		Required          []string
	}
	Free, Product, Products, Odd, Wrong, Declined, Paid, Mute spoken
	Unknown, Keyless, Stranger                                string
	Asked                                                     []string
}

// nodecheck runs the script that is a client on the official TypeScript SDK. Without Node or the packages (npm ci in
// nodecheck) the test is skipped, or fails where CI is true.
func nodecheck(t *testing.T, env ...string) seen {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join("nodecheck", "node_modules"))
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("Node and `npm ci` in nodecheck are needed: %v", err)
		}
		t.Skipf("Node and `npm ci` in nodecheck are needed: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), node, "client.mjs")
	cmd.Dir, cmd.Env = "nodecheck", append(os.Environ(), env...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	var s seen
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		t.Fatalf("client.mjs: %v\n%s%s", err, out, complaints.String())
	}
	return s
}

// TestTypeScriptSDK has clients on the official TypeScript SDK do what agents do: the first generation, and the second in
// every revision that it speaks over streamable HTTP.
func TestTypeScriptSDK(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, generation, version string }{
		{"the first generation, 2025-11-25", "1", "2025-11-25"},
		{"the second, 2026-07-28", "2", "2026-07-28"},
		{"the second, 2025-11-25", "2", "2025-11-25"},
		{"the second, 2025-06-18", "2", "2025-06-18"},
		{"the second, 2025-03-26", "2", "2025-03-26"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			account, key := h.person(t, "agent", 0)
			before := h.balance(t, account)
			s := nodecheck(t, "ADDRESS="+h.url+"/mcp", "KEY="+key, "GENERATION="+c.generation, "VERSION="+c.version)
			if s.Version != c.version || s.Server == "" {
				t.Errorf("%s speaks %s, expected %s", s.Server, s.Version, c.version)
			}
			t.Run("A74 it lists the tools, with schema and price", func(t *testing.T) { s.checkTools(t) })
			t.Run("B26 a free read tool runs by itself; what is wrong is said to the model, what is unknown is an error", func(t *testing.T) {
				outputs, _ := s.Free.Structured["outputs"].(map[string]any)
				if s.Free.IsError || !strings.Contains(s.Free.Text, "said: a pier") || len(outputs) != 1 {
					t.Errorf("got %+v", s.Free)
				}
				if !s.Wrong.IsError || !strings.Contains(s.Wrong.Text, "takes text") || !strings.Contains(s.Unknown, "nothing") {
					t.Errorf("got %+v and %q", s.Wrong, s.Unknown)
				}
			})
			t.Run("B20 a tool's own data passes the client's check of its schema, and an answer of another shape arrives as its text", func(t *testing.T) {
				list, _ := s.Products.Structured["data"].([]any)
				if s.Product.IsError || s.Product.Structured["sku"] != "A-1" || s.Products.IsError || len(list) != 1 {
					t.Errorf("got %+v and %+v", s.Product, s.Products)
				}
				if !s.Odd.IsError || !strings.Contains(s.Odd.Text, `{"id": 5}`) || !strings.Contains(s.Odd.Text, "don't call it again") {
					t.Errorf("got %+v", s.Odd)
				}
			})
			t.Run("B27 B28 what costs money is shown to the person first: declined it is free, accepted it runs once", func(t *testing.T) {
				s.checkPaid(t)
				if calls, paid := h.now.count(), before-h.balance(t, account); calls != 5 || paid != 20_000_000 { // the free ones and this
					t.Errorf("%d calls for %s", calls, paid)
				}
			})
			t.Run("without a key, or with a wrong one, there is nothing", func(t *testing.T) {
				if !strings.Contains(s.Keyless, "401") || !strings.Contains(s.Stranger, "401") {
					t.Errorf("the refusals are %q and %q", s.Keyless, s.Stranger)
				}
			})
		})
	}
}

func (s seen) checkTools(t *testing.T) {
	t.Helper()
	var names []string
	for _, tool := range s.Tools {
		names = append(names, tool.Name)
		switch tool.Name {
		case "free.story":
			if !tool.ReadOnly || !slices.Equal(tool.Required, []string{"prompt"}) {
				t.Errorf("got %+v", tool)
			}
		case "paid-story":
			if !strings.Contains(tool.Description, "0.02 USD") {
				t.Errorf("no price in %q", tool.Description)
			}
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"delete-all", "free.story", "introduce", "paid-picture", "paid-story", "product", "products", "searchTools", "slow"}) {
		t.Errorf("listed are %v", names)
	}
}

func (s seen) checkPaid(t *testing.T) {
	t.Helper()
	if len(s.Asked) != 2 || !strings.Contains(s.Asked[0], "$0.02") || !strings.Contains(s.Asked[0], "a pier") {
		t.Errorf("the questions were %q", s.Asked)
	}
	if !s.Declined.IsError || !s.Mute.IsError || !strings.Contains(s.Mute.Text, "spending limit") {
		t.Errorf("declined: %+v; without a way to ask: %+v", s.Declined, s.Mute)
	}
	if s.Paid.IsError || len(s.Paid.Links) != 1 {
		t.Fatalf("accepted: %+v", s.Paid)
	}
	res, err := http.Get(s.Paid.Links[0])
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(body, picture) {
		t.Errorf("the link gives %d: %q, %v", res.StatusCode, body, err)
	}
}
