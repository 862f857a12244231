package comfy_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func models() map[string][]string { return map[string][]string{"checkpoints": {"sd.safetensors"}} }

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("loader", func(t *testing.T) {
		t.Parallel()
		registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
			source := newFolder(map[string]string{"plain.json": plainFlow, "sub/media.json": mediaFlow})
			w := newWorld(t, source, comfytest.New(t, comfytest.Options{}))
			return registrytest.LoaderSetup{Loader: w.loader}
		})
	})
	t.Run("provider", func(t *testing.T) {
		t.Parallel()
		registrytest.TestSubmitter(t, func(t *testing.T) registrytest.SubmitterSetup {
			s, line := comfytest.New(t, comfytest.Options{}), registrytest.NewLine(t, nil)
			w := newWorldBy(t, line.Client(), newFolder(map[string]string{"it.json": plainFlow}), s)
			tool := w.tools["it"]
			return registrytest.SubmitterSetup{
				Submitter: w.provider, Line: line, OwnEngines: true,
				Call:     func() registry.Call { return w.call(tool, nil) },
				Received: func() int { return s.Runs("") },
			}
		})
	})
}

func TestSubmit(t *testing.T) {
	t.Parallel()
	t.Run("the call's handle is the prompt id, and all have one client", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		c := w.call(tool, nil)
		c.RunID = "another"
		ticket := w.submit(t, c)
		if ticket.ProviderID != c.Handle || ticket.RunID != c.RunID || ticket.Endpoint != s.URL().Host || ticket.Service != loader.Service {
			t.Errorf("ticket %+v", ticket)
		}
		w.submit(t, w.call(tool, nil))
		sent := s.Calls("POST /prompt")
		var clients [2]struct {
			ID string `json:"client_id"`
		}
		if len(sent) != 2 || sent[0].PromptID != c.Handle || json.Unmarshal(sent[0].Body, &clients[0]) != nil || json.Unmarshal(sent[1].Body, &clients[1]) != nil ||
			clients[0].ID == "" || clients[0] != clients[1] {
			t.Errorf("sent %d times: %+v", len(sent), clients)
		}
	})
	t.Run("seeds reach the engine in all 64 bits", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{Models: models()})
		w, tool := oneTool(t, modelFlow, s)
		w.run(t, tool, map[string]any{"prompt": "a dog", "seed": json.Number("18446744073709551615")})
		if body := string(s.Calls("POST /prompt")[0].Body); !strings.Contains(body, `"seed":18446744073709551615`) || !strings.Contains(body, `"text":"a dog"`) {
			t.Error(body)
		}
	})
	t.Run("widgets that only the editor has are not sent", func(t *testing.T) {
		t.Parallel()
		flow := `{"nodes": [
			{"id": 1, "type": "LoadImage", "pos": [0, 0], "mode": 0, "inputs": [], "outputs": [{"name": "IMAGE", "type": "IMAGE", "links": [1]}], "widgets_values": ["a.png", "image"]},
			{"id": 2, "type": "SaveImage", "pos": [9, 0], "mode": 0, "inputs": [{"name": "images", "type": "IMAGE", "link": 1}], "outputs": [], "widgets_values": ["x"]}],
			"links": [[1, 1, 0, 2, 0, "IMAGE"]], "version": 0.4}`
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, flow, s)
		w.run(t, tool, map[string]any{tool.InputSchema[0].Name: w.photo(t)})
		if body := string(s.Calls("POST /prompt")[0].Body); strings.Contains(body, `"upload"`) {
			t.Error(body)
		}
	})
	t.Run("A45 a refusal names nodes and inputs, no values", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{Models: models()})
		w, tool := oneTool(t, modelFlow, s)
		s.On("POST /prompt", 1, comfytest.Answer(http.StatusBadRequest, `{"error": {"type": "prompt_outputs_failed_validation", "message": "", "details": "", "extra_info": {}}, "node_errors": {"4": {
			"errors": [{"type": "value_not_in_list", "message": "", "details": "ckpt_name: 'sd.safetensors' not in ['/secret/folder/other.safetensors']", "extra_info": {"input_name": "ckpt_name", "received_value": "sd.safetensors"}}],
			"dependent_outputs": ["9"], "class_type": "CheckpointLoaderSimple"}}}`))
		_, err := w.provider.Submit(t.Context(), w.call(tool, map[string]any{"prompt": "my secret wish"}))
		e := failure(t, err, registry.CodeProvider, false)
		if !strings.Contains(e.Message, "CheckpointLoaderSimple.ckpt_name is not available") || strings.Contains(e.Message, "sd.safetensors") || strings.Contains(e.Message, "secret") {
			t.Error(e.Message)
		}
	})
	t.Run("a model that was taken away is named at once, and the tool is unavailable for all", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{Models: models()})
		w, tool := oneTool(t, modelFlow, s)
		s.SetModels("checkpoints", "/secret/folder/other.safetensors")
		const want = "no engine has the model sd.safetensors"
		for range 2 {
			_, err := w.provider.Submit(t.Context(), w.call(tool, map[string]any{"prompt": "my secret wish"}))
			if e := failure(t, err, registry.CodeUnavailable, false); e.Message != want {
				t.Error(e.Message)
			}
		}
		if sent, read := len(s.Calls("POST /prompt")), len(s.Calls("GET /object_info")); sent != 1 || read != 2 {
			t.Errorf("it was sent %d times, and the engine asked %d times what it has", sent, read)
		}
		if tools, err := w.loader.Load(t.Context()); err != nil || tools[0].Status == nil || tools[0].Status.Reason != want {
			t.Errorf("%+v, %v", tools[0].Status, err)
		}
	})
	t.Run("a node that an engine lost in a restart is named at once", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		answer := comfytest.Answer(http.StatusBadRequest, `{"error": {"type": "missing_node_type", "message": "", "details": "", "extra_info": {"node_id": "2", "class_type": "SaveImage", "node_title": "my secret"}}, "node_errors": {}}`)
		s.On("POST /prompt", 1, answer)
		_, err := w.provider.Submit(t.Context(), w.call(tool, nil))
		if e := failure(t, err, registry.CodeProvider, false); e.Message != "the engine refused the workflow: SaveImage: missing node type" {
			t.Error(e.Message)
		} else if !strings.Contains(e.Cause.Error(), s.URL().Host) || !strings.Contains(e.Cause.Error(), `node "2": SaveImage`) {
			t.Errorf("operators read %v", e.Cause)
		}
	})
	t.Run("a body that the engine can't read is no reason to try again", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		for status, retryable := range map[int]bool{http.StatusRequestEntityTooLarge: false, http.StatusForbidden: false, http.StatusBadGateway: true} {
			s.On("POST /prompt", 1, comfytest.Answer(status, "<html>"))
			_, err := w.provider.Submit(t.Context(), w.call(tool, nil))
			code := registry.CodeProvider
			if retryable {
				code = registry.CodeUnavailable
			}
			failure(t, err, code, retryable)
		}
	})
	t.Run("the three shapes of a refusal", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		for _, body := range []string{
			`{"error": "invalid_prompt", "node_errors": []}`,
			`{"error": {"type": "invalid_prompt", "message": "Cannot execute", "details": "", "extra_info": {}}, "node_errors": []}`,
			`{"error": {"type": "prompt_no_outputs", "message": "Prompt has no outputs", "details": "", "extra_info": {}}, "node_errors": {}}`,
		} {
			s.On("POST /prompt", 1, comfytest.Answer(http.StatusBadRequest, body))
			_, err := w.provider.Submit(t.Context(), w.call(tool, nil))
			failure(t, err, registry.CodeProvider, false)
		}
	})
	t.Run("half a result is none, and the rest of it is stopped", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{Models: models()})
		both := `{"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 8, "batch_size": 1, "color": 255}},
			"2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "a"}},` + strings.TrimPrefix(modelFlow, "{")
		w, tool := oneTool(t, both, s)
		gate := s.Hold("EmptyImage")
		defer gate.Open()
		s.SetModels("checkpoints")
		c := w.call(tool, map[string]any{"prompt": "x"})
		_, err := w.provider.Submit(t.Context(), c)
		failure(t, err, registry.CodeUnavailable, false)
		client := api.New(s.URL(), nil)
		clocktest.Until(t, "an empty queue", func() bool { n, err := client.QueueLength(t.Context()); return err == nil && n == 0 })
		if s.Runs(c.Handle) != 1 {
			t.Error("the test is wrong: it was no partial run")
		}
	})
	t.Run("a partial run that is found later has failed", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		both := `{"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 8, "batch_size": 1, "color": 255}},
			"2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "a"}},
			"3": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "b"}}}`
		w, tool := oneTool(t, both, s)
		if len(tool.OutputSchema) != 2 {
			t.Fatalf("%d outputs", len(tool.OutputSchema))
		}
		ticket := w.submit(t, w.call(tool, nil))
		w.poll(t, ticket)
		s.On("GET /history/", comfytest.Always, comfytest.Edit(func(body []byte) []byte {
			var h map[string]map[string]any
			if err := json.Unmarshal(body, &h); err != nil {
				return body
			}
			h[ticket.ProviderID]["prompt"].([]any)[4] = []any{"2"}
			body, _ = json.Marshal(h)
			return body
		}))
		p := w.poll(t, ticket)
		if p.State != registry.RunFailed || p.Err.Code != registry.CodeBadOutput {
			t.Errorf("%+v", p)
		}
	})
}

func TestLostAnswers(t *testing.T) {
	t.Parallel()
	t.Run("an answer that is cut off is found by asking", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		for _, fault := range []comfytest.Action{comfytest.CutAfter, comfytest.CutMidAnswer, comfytest.BrokenJSON} {
			s.On("POST /prompt", 1, fault)
			c := w.call(tool, nil)
			ticket := w.submit(t, c)
			if p := w.poll(t, ticket); p.State != registry.RunSucceeded || s.Runs(c.Handle) != 1 {
				t.Errorf("%s, %d runs", p.State, s.Runs(c.Handle))
			}
		}
	})
	t.Run("what never arrived may be sent again", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		s.On("POST /prompt", 1, comfytest.Cut)
		c := w.call(tool, nil)
		_, err := w.provider.Submit(t.Context(), c)
		failure(t, err, registry.CodeUnavailable, true)
		c.Repeated = true
		if p := w.poll(t, w.submit(t, c)); p.State != registry.RunSucceeded || s.Runs(c.Handle) != 1 {
			t.Errorf("%s, %d runs", p.State, s.Runs(c.Handle))
		}
	})
	for _, where := range []string{"queue", "running", "history"} {
		t.Run("after a crash the prompt is found in "+where, func(t *testing.T) {
			t.Parallel()
			a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
			w, tool := oneTool(t, plainFlow, a, b)
			gate := a.Hold("EmptyImage")
			ahead, _ := oneTool(t, plainFlow, a) // of the same content, on one of the servers only
			c := w.call(tool, nil)
			if where == "queue" {
				ahead.submit(t, ahead.call(tool, map[string]any{"color": json.Number("1")}))
				gate.Next()
			}
			first := ahead.submit(t, ahead.adopt(t, c))
			if where == "running" {
				gate.Next()
			}
			if where == "history" {
				gate.Open()
				ahead.poll(t, first)
			}
			c.Repeated = true
			ticket := w.submit(t, c) // as a program does that has forgotten everything
			if ticket.ProviderID != c.Handle || ticket.Endpoint != a.URL().Host || a.Runs(c.Handle) != 1 || b.Runs("") != 0 {
				t.Errorf("ticket %+v, %d and %d runs", ticket, a.Runs(c.Handle), b.Runs(""))
			}
			gate.Open()
			if p := w.poll(t, ticket); p.State != registry.RunSucceeded || len(p.Result.Outputs) != 1 {
				t.Errorf("%+v", p)
			}
		})
	}
	t.Run("while an engine that may have it is silent nothing is sent", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, a, b)
		b.Down()
		c := w.call(tool, nil)
		c.Repeated = true
		_, err := w.provider.Submit(t.Context(), c)
		if e := failure(t, err, registry.CodeUnavailable, true); e.RetryAfter <= 0 {
			t.Error("no time to try again")
		}
		if a.Runs("") != 0 {
			t.Error("it was sent")
		}
		b.Up()
		w.submit(t, c)
	})
	t.Run("a call without a handle goes by its run id and is always looked for", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		c := w.call(tool, nil)
		c.Handle = ""
		for range 2 {
			if ticket := w.submit(t, c); ticket.ProviderID != c.RunID {
				t.Errorf("ticket %+v", ticket)
			}
		}
	})
	t.Run("the answer of an engine is waited for although nobody wants the run any more", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.On("POST /prompt", 1, func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
			cancel()
			next.ServeHTTP(rw, r)
		})
		c := w.call(tool, nil)
		ticket, err := w.provider.Submit(ctx, c)
		if err != nil || ticket.ProviderID != c.Handle {
			t.Errorf("submit gives %+v, %v", ticket, err)
		}
		if err := w.provider.Cancel(t.Context(), ticket); err != nil {
			t.Error(err)
		}
		clocktest.Until(t, "the end of the run", func() bool {
			p, err := w.provider.Poll(t.Context(), ticket)
			return err != nil || p.State.Terminal()
		})
	})
}

// adopt makes c's template known to this world too, and gives c.
func (w *world) adopt(t *testing.T, c registry.Call) registry.Call {
	t.Helper()
	c.Tool = w.tools["it"]
	return c
}

func TestUploads(t *testing.T) {
	t.Parallel()
	t.Run("a file gets a name of its content, and the name that the engine gave is used", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, mediaFlow, s)
		s.On("POST /upload/image", 1, comfytest.Replace(`signalbox_`, `sub (1) signalbox_`))
		_, err := w.provider.Submit(t.Context(), w.call(tool, map[string]any{tool.InputSchema[0].Name: w.photo(t)}))
		failure(t, err, registry.CodeProvider, false) // there is no such file
		if body := string(s.Calls("POST /prompt")[0].Body); !strings.Contains(body, `"image":"sub (1) signalbox_`) {
			t.Error(body)
		}
		p := w.run(t, tool, map[string]any{tool.InputSchema[0].Name: w.photo(t)})
		if p.State != registry.RunSucceeded {
			t.Errorf("%+v", p)
		}
	})
	t.Run("an engine's evil name for an upload is refused", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, mediaFlow, s)
		s.On("POST /upload/image", 1, comfytest.Answer(http.StatusOK, `{"name": "../../etc/passwd", "subfolder": "", "type": "input"}`))
		_, err := w.provider.Submit(t.Context(), w.call(tool, map[string]any{tool.InputSchema[0].Name: w.photo(t)}))
		if e := failure(t, err, registry.CodeUnavailable, true); e.Field != tool.InputSchema[0].Name {
			t.Errorf("field %q", e.Field)
		}
		if s.Runs("") != 0 {
			t.Error("it was submitted")
		}
	})
	t.Run("a file that is too large for the engine is the user's to change", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, mediaFlow, s)
		s.On("POST /upload/image", 1, comfytest.Answer(http.StatusRequestEntityTooLarge, ""))
		_, err := w.provider.Submit(t.Context(), w.call(tool, map[string]any{tool.InputSchema[0].Name: w.photo(t)}))
		failure(t, err, registry.CodeInvalidInput, false)
	})
	t.Run("a file that is gone is the user's to send again", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, mediaFlow, s)
		_, err := w.provider.Submit(t.Context(), w.call(tool, map[string]any{tool.InputSchema[0].Name: "asset:gone"}))
		failure(t, err, registry.CodeInvalidInput, false)
	})
	t.Run("several files go to one input in their order", func(t *testing.T) {
		t.Parallel()
		flow := `{"nodes": [
			{"id": 1, "type": "ComfyUIDeployExternalImageBatch", "pos": [0, 0], "mode": 0, "inputs": [], "outputs": [{"name": "image", "type": "IMAGE", "links": [1]}], "widgets_values": ["pictures", "[]", "Pictures", ""]},
			{"id": 2, "type": "SaveImage", "pos": [9, 0], "mode": 0, "inputs": [{"name": "images", "type": "IMAGE", "link": 1}], "outputs": [], "widgets_values": ["x"]}],
			"links": [[1, 1, 0, 2, 0, "IMAGE"]], "version": 0.4}`
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, flow, s)
		i := slices.IndexFunc(tool.InputSchema, func(f registry.InputField) bool { return f.Multiple })
		if i < 0 {
			t.Fatalf("this workflow makes no input that takes several files: %+v", tool.InputSchema)
		}
		field := tool.InputSchema[i].Name
		one, two := w.photo(t), w.photoOf(t, 200)
		_, _ = w.provider.Submit(t.Context(), w.call(tool, map[string]any{field: []any{one, two}}))
		uploads := s.Calls("POST /upload/image")
		if len(uploads) != 2 || !strings.Contains(string(uploads[0].Body), one[6:20]) || !strings.Contains(string(uploads[1].Body), two[6:20]) {
			t.Errorf("%d uploads", len(uploads))
		}
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	t.Run("a prompt that waits is taken out, one that runs is interrupted, by its id", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		gate := s.Hold("EmptyImage")
		defer gate.Open()
		running := w.submit(t, w.call(tool, nil))
		held := gate.Next()
		waiting := w.submit(t, w.call(tool, nil))
		if p, err := w.provider.Poll(t.Context(), waiting); err != nil || p.State != registry.RunQueued || p.QueuePosition != 1 {
			t.Errorf("%+v, %v", p, err)
		}
		if err := w.provider.Cancel(t.Context(), waiting); err != nil {
			t.Error(err)
		}
		if n := len(s.Calls("POST /interrupt")); n != 0 {
			t.Errorf("%d interrupts for a prompt that waits", n)
		}
		_, err := w.provider.Poll(t.Context(), waiting)
		failure(t, err, registry.CodeLost, false)
		if err := w.provider.Cancel(t.Context(), running); err != nil {
			t.Error(err)
		}
		if calls := s.Calls("POST /interrupt"); len(calls) != 1 || calls[0].PromptID != held.PromptID {
			t.Errorf("interrupts %+v", calls)
		}
		if p := w.poll(t, running); p.State != registry.RunCanceled {
			t.Errorf("%+v", p)
		}
	})
	t.Run("somebody else's run is left alone", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		done := w.submit(t, w.call(tool, nil))
		w.poll(t, done)
		gate := s.Hold("EmptyImage")
		other := w.submit(t, w.call(tool, map[string]any{"color": json.Number("3")}))
		gate.Next()
		if err := w.provider.Cancel(t.Context(), done); err != nil {
			t.Error(err)
		}
		if n := len(s.Calls("POST /interrupt")); n != 0 {
			t.Errorf("%d interrupts", n)
		}
		gate.Open()
		if p := w.poll(t, other); p.State != registry.RunSucceeded {
			t.Errorf("%+v", p)
		}
	})
	t.Run("a ticket that names no engine is looked for on all", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{Without: []string{"ImageInvert"}})
		w, tool := oneTool(t, plainFlow, b, a)
		gate := a.Hold("EmptyImage")
		ticket := w.submit(t, w.call(tool, nil))
		gate.Next()
		if err := w.provider.Cancel(t.Context(), registry.Ticket{RunID: ticket.RunID, ProviderID: ticket.ProviderID}); err != nil {
			t.Error(err)
		}
		if p := w.poll(t, ticket); p.State != registry.RunCanceled {
			t.Errorf("%+v", p)
		}
	})
	t.Run("an engine that is gone from the configuration runs nothing of ours", func(t *testing.T) {
		t.Parallel()
		w, _ := oneTool(t, plainFlow, comfytest.New(t, comfytest.Options{}))
		if err := w.provider.Cancel(t.Context(), registry.Ticket{ProviderID: "x", Endpoint: "elsewhere:1"}); err != nil {
			t.Error(err)
		}
		_, err := w.provider.Poll(t.Context(), registry.Ticket{ProviderID: "x", Endpoint: "elsewhere:1"})
		failure(t, err, registry.CodeLost, false)
	})
	t.Run("an engine that does not answer is an error to try again", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		ticket := w.submit(t, w.call(tool, nil))
		s.Down()
		failure(t, w.provider.Cancel(t.Context(), ticket), registry.CodeUnavailable, true)
		_, err := w.provider.Poll(t.Context(), ticket)
		failure(t, err, registry.CodeUnavailable, true)
	})
	t.Run("a client sends no interrupt without an id", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		client := api.New(s.URL(), nil)
		if err := client.Interrupt(t.Context(), ""); err == nil || len(s.Calls("POST /interrupt")) != 0 {
			t.Error(err)
		}
	})
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	t.Run("A45 a run accepted before its file changed runs the old workflow, after a restart too", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		source := newFolder(map[string]string{"it.json": plainFlow})
		w := newWorld(t, source, s)
		accepted := w.call(w.tools["it"], nil)
		source.write("it.json", strings.ReplaceAll(plainFlow, `"plain"`, `"changed"`))
		w.load(t)
		prefix := func(c registry.Call) string {
			p := w.poll(t, w.submit(t, c))
			return p.Result.Outputs[0].Info.Name
		}
		if name := prefix(accepted); !strings.HasPrefix(name, "plain_") {
			t.Errorf("%s", name)
		}
		if name := prefix(w.call(w.tools["it"], nil)); !strings.HasPrefix(name, "changed_") {
			t.Errorf("%s", name)
		}
		source.remove("it.json")
		w.loader = loader.New(loader.Config{Sources: []fs.FS{source}, Engines: w.fleet, Store: w.store})
		w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader})
		before := w.store.Opened()
		again := w.call(accepted.Tool, nil)
		if name := prefix(again); !strings.HasPrefix(name, "plain_") {
			t.Errorf("%s", name)
		}
		prefix(w.call(accepted.Tool, nil))
		if n := w.store.Opened() - before; n != 1 {
			t.Errorf("the template was read %d times", n)
		}
	})
	t.Run("a tool whose template is gone says so", func(t *testing.T) {
		t.Parallel()
		w, tool := oneTool(t, plainFlow, comfytest.New(t, comfytest.Options{}))
		tool = tool.Clone()
		tool.Metadata["template"] = "asset:gone"
		_, err := w.provider.Submit(t.Context(), w.call(tool, nil))
		failure(t, err, registry.CodeUnavailable, false)
		tool.Metadata = nil
		_, err = w.provider.Submit(t.Context(), w.call(tool, nil))
		failure(t, err, registry.CodeUnavailable, false)
	})
}
