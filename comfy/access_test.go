package comfy_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
	"github.com/signalbox/signalbox/registry"
)

// door is a server in front of a ComfyUI server: below /gpu, for those who have the key, with results in a store elsewhere that must not get it.
func door(t *testing.T, behind *url.URL, open func(r *http.Request) bool) *url.URL {
	t.Helper()
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-API-Key") != "" || r.Header.Get("Authorization") != "" {
			t.Errorf("the store got a key: %v", r.Header)
		}
		res, err := http.Get(behind.JoinPath("/view").String() + "?" + r.URL.RawQuery)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(store.Close)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !open(r):
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case r.URL.Path == "/gpu/view":
			http.Redirect(w, r, store.URL+"?"+r.URL.RawQuery, http.StatusFound)
		default:
			http.StripPrefix("/gpu", proxy).ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	u, err := url.Parse(front.URL + "/gpu")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestEnginesBehindDoors(t *testing.T) {
	t.Parallel()
	byKey := func(r *http.Request) bool { return r.Header.Get("X-API-Key") == "secret" }
	byName := func(r *http.Request) bool {
		name, password, ok := r.BasicAuth()
		return ok && name == "ann" && password == "secret"
	}
	run := func(t *testing.T, u *url.URL, headers http.Header) *comfy.Fleet {
		t.Helper()
		fleet := comfy.NewFleet([]*url.URL{u}, comfy.FleetConfig{Headers: map[string]http.Header{comfy.EngineName(u): headers}})
		fleet.Refresh(t.Context())
		return fleet
	}
	for name, c := range map[string]struct {
		open    func(*http.Request) bool
		user    *url.Userinfo
		headers http.Header
	}{
		"a header":          {byKey, nil, http.Header{"X-Api-Key": {"secret"}}},
		"name and password": {byName, url.UserPassword("ann", "secret"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := comfytest.New(t, comfytest.Options{})
			u := door(t, s.URL(), c.open)
			u.User = c.user
			w := worldOf(t, run(t, u, c.headers), newFolder(map[string]string{"it.json": plainFlow}))
			_, wait := w.watch(t, w.submit(t, w.call(w.tools["it"], nil)))
			if err := wait(); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("results come from elsewhere without the key", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		u := door(t, s.URL(), byKey)
		w := worldOf(t, run(t, u, http.Header{"X-Api-Key": {"secret"}}), newFolder(map[string]string{"it.json": plainFlow}))
		seen, wait := w.watch(t, w.submit(t, w.call(w.tools["it"], nil)))
		if err := wait(); err != nil {
			t.Fatal(err)
		}
		last := seen.last()
		if last.State != registry.RunSucceeded || len(last.Result.Outputs) != 1 {
			t.Fatalf("%+v", last)
		}
		content, err := last.Result.Outputs[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		if data, err := io.ReadAll(content); err != nil || !strings.HasPrefix(string(data), "\x89PNG") {
			t.Errorf("%.20q, %v", data, err)
		}
	})
	t.Run("a closed door is told without the key", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		fleet := run(t, door(t, s.URL(), byKey), http.Header{"X-Api-Key": {"wrong-secret"}})
		if status := fleet.Status()[0]; status.Up || !strings.Contains(status.Error, "401") || strings.Contains(status.Error, "secret") {
			t.Errorf("%+v", status)
		}
	})
}

// partner is a class that calls a partner's service and declares its price, if any, by an expression over its widget n.
func partner(expression string) node.Node {
	spec := node.Spec{Class: "PartnerImage", Partner: true, Module: "comfy_api_nodes.nodes_partner", Outputs: node.Outs("IMAGE"),
		Required: []node.Input{node.String("prompt"), node.Int("n").Default(1).Range(1, 8)}}
	if expression != "" {
		spec.PriceBadge = pyval.D("engine", "jsonata", "expr", expression,
			"depends_on", pyval.D("widgets", []any{pyval.D("name", "n", "type", "INT")}, "inputs", []any{}, "input_groups", []any{}))
	}
	return node.Node{Spec: spec, Run: func(context.Context, *node.Call) (*node.Result, error) {
		return node.Out(&tensor.Image{B: 1, H: 2, W: 2, C: 3, Pix: make([]float32, 12)}), nil
	}}
}

func TestPartnersKey(t *testing.T) {
	t.Parallel()
	partnerFlow := `{
		"1": {"class_type": "PartnerImage", "inputs": {"prompt": "a fox", "n": 1}},
		"2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "fox"}}}`
	s := comfytest.New(t, comfytest.Options{Nodes: []node.Node{partner("")}})
	w := newWorld(t, newFolder(map[string]string{"paid.json": partnerFlow, "plain.json": plainFlow}), s)
	provider := comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader, PartnerKey: "comfyui-secret"})
	for _, tool := range []string{"paid", "plain"} {
		if _, err := provider.Submit(t.Context(), w.call(w.tools[tool], nil)); err != nil {
			t.Fatal(err)
		}
	}
	calls := s.Calls("POST /prompt")
	if len(calls) != 2 || !strings.Contains(string(calls[0].Body), `"api_key_comfy_org":"comfyui-secret"`) || strings.Contains(string(calls[1].Body), "secret") {
		t.Errorf("%d prompts: %s", len(calls), calls)
	}
}
