package workflow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/comfy/objectinfo"
)

// What is large or twisted on purpose must be refused or handled in reasonable time.
func TestBounds(t *testing.T) {
	t.Parallel()
	rows := func(n int, row func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(row(i))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"a chain of reroutes with a node at every link": `{"nodes": [` + rows(9000, func(i int) string {
			return fmt.Sprintf(`{"id": %d, "type": "Reroute", "inputs": [{"name": "", "link": %d}]}, {"id": %d, "type": "SaveImage", "inputs": [{"name": "images", "link": %d}]}`, i, i-1, 10000+i, i)
		}) + `], "links": [` + rows(9000, func(i int) string { return fmt.Sprintf(`[%d, %d, 0, %d, 0, "*"]`, i, i, i+1) }) + `]}`,
		"loaders without end": `{"nodes": [` + rows(9000, func(i int) string {
			return fmt.Sprintf(`{"id": %d, "type": "LoadImage", "widgets_values": ["a.png"]}, {"id": %d, "type": "SaveImage", "inputs": [{"name": "images", "link": %d}]}`, i, 10000+i, i)
		}) + `], "links": [` + rows(9000, func(i int) string { return fmt.Sprintf(`[%d, %d, 0, %d, 0, "IMAGE"]`, i, i, 10000+i) }) + `]}`,
		"seeds and texts without end": `{` + rows(15000, func(i int) string {
			return fmt.Sprintf(`"%d": {"class_type": "Sampler", "inputs": {"seed": %d, "text": "t%d", "positive": ["%d", 0], "negative": ["%d", 1]}}`, i, i, i, i+1, i+2)
		}) + `}`,
		"external nodes without end": `{` + rows(15000, func(i int) string {
			return fmt.Sprintf(`"%d": {"class_type": "ComfyUIDeployExternalText", "inputs": {"input_id": "same"}}`, i)
		}) + `}`,
		"everything everywhere": `{"nodes": [` + rows(5000, func(i int) string {
			return fmt.Sprintf(`{"id": %d, "type": "Blur", "inputs": [{"name": "image"}, {"name": "x"}]}`, i)
		}) + `], "extra": {"ue_links": [` + rows(20000, func(i int) string {
			return fmt.Sprintf(`{"downstream": %d, "downstream_slot": 0, "upstream": "%d", "upstream_slot": 0}`, i%5000, i/4)
		}) + `]}}`,
		"primitives in a circle, named by thousands of app inputs": `{"nodes": [` + rows(5000, func(i int) string {
			return fmt.Sprintf(`{"id": %d, "type": "PrimitiveNode", "inputs": [{"name": "value", "link": %d}], "widgets_values": [1]}`, i, i)
		}) + `, {"id": 9999, "type": "Blur"}], "links": [` + rows(20000, func(i int) string { return fmt.Sprintf(`[%d, %d, 0, %d, 0, "INT"]`, i, i%5000, (i+1)%5000) }) + `],
			"extra": {"linearData": {"inputs": [` + rows(20000, func(i int) string { return fmt.Sprintf(`["%d", "value"]`, i%5000) }) + `]}}}`,
		"promoted widgets without end": `{"nodes": [` + rows(300, func(i int) string {
			return fmt.Sprintf(`{"id": %d, "type": "S", "properties": {"proxyWidgets": [`, i) + rows(300, func(j int) string { return fmt.Sprintf(`["1", "w%d", "%d"]`, j%7, j) }) + `]}}`
		}) + `], "definitions": {"subgraphs": [{"id": "S", "inputs": [` + rows(1000, func(i int) string { return fmt.Sprintf(`{"name": "w%d", "type": "INT"}`, i%7) }) + `],
			"nodes": [{"id": 1, "type": "Blur"}], "links": [` + rows(3000, func(i int) string {
			return fmt.Sprintf(`{"id": %d, "origin_id": -10, "origin_slot": %d, "target_id": 1, "target_slot": 0}`, i, i%1000)
		}) + `]}]}}`,
		"a group node in itself": `{"nodes": [{"id": 1, "type": "workflow>A"}], "extra": {"groupNodes": {"A": {"nodes": [{"type": "workflow>A"}, {"type": "workflow>A"}]}}}}`,
		"a note of markup":       `{"nodes": [{"id": 1, "type": "MarkdownNote", "widgets_values": ["` + strings.Repeat(`<b>**[*_`, 100_000) + `"]}, {"id": 2, "type": "Blur"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			w, err := graph.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			d, err := Define(w, Options{FileName: "x.json", ObjectInfo: graphtest.Mini(t)})
			if err != nil {
				t.Fatal(err)
			}
			checkTool(t, d)
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			} else {
				t.Logf("took %v", took)
			}
		})
	}
	for name, text := range map[string]string{
		"too many nodes":  `{"nodes": [` + rows(20_001, func(int) string { return `{"type": "A"}` }) + `]}`,
		"too many inputs": `{"1": {"class_type": "A", "inputs": {` + rows(2_001, func(i int) string { return fmt.Sprintf(`"i%d": 1`, i) }) + `}}}`,
	} {
		if _, err := graph.Parse([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// FuzzParse: whatever comes in, every step ends without a panic, and what converts can be read back.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{graphtest.SmallGraph, graphtest.SmallPrompt, `{"prompt": ` + graphtest.SmallPrompt + `}`, `{"nodes": [{"id": 1, "type": "11111111-1111-1111-1111-111111111111", "widgets_values": [4],
		"properties": {"proxyWidgets": "[[\"-1\",\"radius\"]]"}}, {"id": 2, "type": "MarkdownNote", "widgets_values": ["# Hi\n@input 1.radius name=x min=1\n@tol id=b\n| a | b |\n[x](y)"]}], "definitions": {"subgraphs": [` + graphtest.BlurDef + `]},
		"extra": {"linearData": {"inputs": [["1", "radius"]], "outputs": [1]}, "groupNodes": {"A": {"nodes": [{"type": "Blur"}], "links": [[0, 0, 0, 0]]}}}}`,
		`{"nodes": [{"id": 1, "type": "workflow>A", "inputs": [{"name": "a", "link": 1}]}], "links": [[1, 1, 0, 1, 0, "*"]], "extra": {"groupNodes": {"A": {"nodes": [{"type": "Reroute", "inputs": [{"name": "", "type": "*"}], "outputs": [{}]}], "links": [[0, 0, 0, 0]]}}}}`,
		`{"nodes": [{"id": 1, "type": "ComfyUIDeployExternalEnum", "widgets_values": ["a", "b", "[1,2"]}, {"id": 2, "type": "ComfyUIDeployExternalSeed", "widgets_values": ["s", -1, 5, 2]}]}`} {
		f.Add([]byte(seed))
	}
	info, err := objectinfo.Parse([]byte(graphtest.MiniInfo))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := graph.Parse(data)
		if err != nil {
			return
		}
		w.Facts()
		for _, o := range []*objectinfo.Info{nil, info} {
			if p, _, err := graph.Convert(w, o); err == nil {
				checkReadable(t, p)
			}
			d, err := Define(w, Options{FileName: "f.json", ObjectInfo: o})
			if err != nil {
				t.Fatal(err)
			}
			checkTool(t, d)
		}
	})
}
