package graph_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/internal/ordered"
)

type pair struct {
	API string `json:"api"`
	UI  string `json:"ui"`
}

// comparable reduces a prompt to what the corpus says to compare: classes and inputs by node, numbers by
// their value, without upload members. Where group nodes were unfolded the ids differ between the two, so
// links name what they point at instead.
func comparable(p graph.Prompt, structural bool) map[string]string {
	memo := map[string]string{}
	var show func(id string, depth int) string
	show = func(id string, depth int) string {
		if s, ok := memo[id]; ok {
			return s
		}
		n := p.Node(id)
		if n == nil || depth > 200 {
			return "?"
		}
		var parts []string
		for _, in := range n.Inputs {
			if in.Name == "upload" || in.Name == "choose file to upload" {
				continue
			}
			v := comparableValue(in.Value)
			if r, ok := in.Value.(graph.Ref); ok && structural {
				v = fmt.Sprintf("<%s>%d", show(r.Node, depth+1), r.Slot)
			}
			parts = append(parts, in.Name+"="+v)
		}
		sort.Strings(parts)
		memo[id] = n.Class + "(" + strings.Join(parts, ", ") + ")"
		return memo[id]
	}
	out := map[string]string{}
	for i, n := range p {
		key := n.ID
		s := show(n.ID, 0)
		if structural {
			key = s + strconv.Itoa(i*0)
		}
		out[key] = s
	}
	return out
}

func comparableValue(v any) string {
	if n, ok := v.(json.Number); ok && strings.ContainsAny(string(n), ".eE") {
		f, _ := n.Float64()
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return string(ordered.Append(nil, v))
}

func TestConvertPairs(t *testing.T) {
	t.Parallel()
	var index struct {
		Pairs []pair `json:"ui_api_pairs"`
	}
	graphtest.ReadJSON(t, filepath.Join(graphtest.Corpus(t), "index.json"), &index)
	files, info := graphtest.Files(t), graphtest.ObjectInfo(t)
	if len(index.Pairs) == 0 {
		t.Fatal("no pairs in the index")
	}
	for _, p := range index.Pairs {
		t.Run(p.UI, func(t *testing.T) {
			t.Parallel()
			w, err := graph.Parse(files[p.UI])
			if err != nil {
				t.Fatal(err)
			}
			stored, err := graph.Parse(files[p.API])
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := graph.Convert(w, info)
			if err != nil {
				t.Fatal(err)
			}
			structural := strings.Contains(string(files[p.UI]), `"groupNodes"`)
			dropLaterInputs(got, stored.Prompt)
			if diff := cmp.Diff(comparable(stored.Prompt, structural), comparable(got, structural)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// dropLaterInputs takes out the inputs that were added to their classes after the prompts were stored: an editor of today
// gives them their default, or the first choice.
func dropLaterInputs(got, stored graph.Prompt) {
	later := map[string][]string{"StyleModelApply": {"strength", "strength_type"}, "DifferentialDiffusion": {"strength"}, "CLIPVisionEncode": {"crop"}}
	for i := range got {
		old := stored.Node(got[i].ID)
		if old == nil {
			continue
		}
		var kept graph.Inputs
		for _, in := range got[i].Inputs {
			_, had := old.Inputs.Get(in.Name)
			drop := false
			for _, name := range later[got[i].Class] {
				drop = drop || name == in.Name && !had
			}
			if !drop {
				kept = append(kept, in)
			}
		}
		got[i].Inputs = kept
	}
}
