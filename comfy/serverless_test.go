package comfy_test

import (
	"context"
	"encoding/json"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/runpod/runpodtest"
	"github.com/signalbox/signalbox/registry"
)

// endpoints writes a file for an endpoint, with the declarations of the worker behind it, and reads it.
func endpoints(t *testing.T, s *runpodtest.Server, worker *comfytest.Server) []*comfy.Endpoint {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	res, err := client.Get(worker.URL().JoinPath("object_info").String())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	info, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	file := endpointFile(t, []any{map[string]any{"endpoint": s.URL(), "key": runpodtest.Key, "objectInfo": "info.json", "gpu": "NVIDIA L4", "atOnce": 2}}, info)
	read, err := comfy.ReadEndpoints(file, client, client)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func endpointFile(t *testing.T, content any, info []byte) string {
	t.Helper()
	dir := t.TempDir()
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "endpoints.json")
	for name, data := range map[string][]byte{file: data, filepath.Join(dir, "info.json"): info} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// serverless is a world whose only engine is an endpoint, which a server of comfytest works for.
func serverless(t *testing.T, flows map[string]string, servers ...*comfytest.Server) (*runpodtest.Server, *world) {
	t.Helper()
	worker := comfytest.New(t, comfytest.Options{})
	s := runpodtest.New(t, worker)
	var urls []*url.URL
	for _, server := range servers {
		urls = append(urls, server.URL())
	}
	fleet := comfy.NewFleet(urls, comfy.FleetConfig{Endpoints: endpoints(t, s, worker), Ahead: 1})
	fleet.Refresh(t.Context())
	return s, worldOf(t, fleet, newFolder(flows))
}

const twoFlow = `{
	"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 8, "batch_size": 1, "color": 255}},
	"2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
	"3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "inverted"}},
	"4": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "folder/paper"}}}`

const previewFlow = `{
	"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 8, "batch_size": 1, "color": 255}},
	"2": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}}}`

// TestServerless proves that an endpoint runs workflows as a server does, and that no job is begun twice.
func TestServerless(t *testing.T) {
	t.Parallel()
	t.Run("a run comes back with its pictures, the time that it took and the machine", func(t *testing.T) {
		t.Parallel()
		_, w := serverless(t, map[string]string{"it.json": twoFlow, "preview.json": previewFlow})
		if done := w.run(t, w.tools["preview"], nil); done.Result == nil || len(done.Result.Outputs) != 1 {
			t.Errorf("a preview: %+v", done)
		}
		done := w.run(t, w.tools["it"], nil)
		if done.Result == nil || len(done.Result.Outputs) != 2 {
			t.Fatalf("%+v", done)
		}
		if use := done.Result.Usage; use.RunTime != 2345*time.Millisecond || use.Machine != "NVIDIA L4" {
			t.Errorf("%+v", use)
		}
		var names []string
		for _, out := range done.Result.Outputs {
			names = append(names, out.Name+" "+strings.SplitN(out.Info.Name, "_", 2)[0])
			content, err := out.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			picture, err := png.Decode(content)
			content.Close()
			if err != nil || picture.Bounds().Dx() != 16 {
				t.Errorf("%v, %v", picture, err)
			}
		}
		if !slices.ContainsFunc(names, func(s string) bool { return strings.HasSuffix(s, " paper") }) || !slices.ContainsFunc(names, func(s string) bool { return strings.HasSuffix(s, " inverted") }) {
			t.Errorf("outputs %q", names)
		}
	})
	t.Run("files go along, and results by address are fetched without the key", func(t *testing.T) {
		t.Parallel()
		s, w := serverless(t, map[string]string{"it.json": mediaFlow})
		s.EndWith("", true)
		ref := w.store.AddFile("a.png", "image/png", stillLife(t, 16, 8))
		done := w.run(t, w.tools["it"], map[string]any{w.tools["it"].InputSchema[0].Name: ref})
		if done.Result == nil || len(done.Result.Outputs) != 1 {
			t.Fatalf("%+v", done)
		}
		content, err := done.Result.Outputs[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		if _, err := png.Decode(content); err != nil {
			t.Error(err)
		}
	})
	t.Run("a file that is too large is told, and nothing is sent", func(t *testing.T) {
		t.Parallel()
		s, w := serverless(t, map[string]string{"it.json": mediaFlow})
		ref := w.store.AddFile("a.png", "image/png", make([]byte, 11<<20))
		_, err := w.provider.Submit(t.Context(), w.call(w.tools["it"], map[string]any{w.tools["it"].InputSchema[0].Name: ref}))
		failure(t, err, registry.CodeInvalidInput, false)
		if s.Calls("run") != 0 {
			t.Error("a job was begun")
		}
	})
	t.Run("a video can't come back, which is told before", func(t *testing.T) {
		t.Parallel()
		_, w := serverless(t, map[string]string{"it.json": resultFlow(t, `{"gifs": [{"filename": "a.mp4", "subfolder": "", "type": "output"}]}`)})
		if tool := w.tools["it"]; tool.State() != registry.StateUnavailable || !strings.Contains(tool.Status.Reason, "pictures only") {
			t.Errorf("%+v", tool.Status)
		}
	})
	t.Run("a server with a place goes before the endpoint", func(t *testing.T) {
		t.Parallel()
		server := comfytest.New(t, comfytest.Options{})
		s, w := serverless(t, map[string]string{"it.json": plainFlow}, server)
		s.Hold()
		gate := server.Hold("ImageInvert")
		asked := s.Calls("health")
		first := w.submit(t, w.call(w.tools["it"], nil))
		if n := s.Calls("health") - asked; n > 0 {
			t.Errorf("the endpoint was asked %d times what it has to do, while a server has a place", n)
		}
		second := w.submit(t, w.call(w.tools["it"], nil))
		if first.Endpoint != comfy.EngineName(server.URL()) || second.ProviderID == "" || second.Endpoint == first.Endpoint {
			t.Errorf("%+v\n%+v", first, second)
		}
		gate.Open()
		w.poll(t, first)
	})
}

func TestServerlessFaults(t *testing.T) {
	t.Parallel()
	flows := map[string]string{"it.json": plainFlow}
	t.Run("waiting, working and canceled are told", func(t *testing.T) {
		t.Parallel()
		s, w := serverless(t, flows)
		s.Hold()
		ticket := w.submit(t, w.call(w.tools["it"], nil))
		if p, err := w.provider.Poll(t.Context(), ticket); err != nil || p.State != registry.RunQueued {
			t.Errorf("%+v, %v", p, err)
		}
		s.Fail("status", runpodtest.Answer(http.StatusOK, `{"id": "x", "status": "WARMING_UP"}`))
		if p, err := w.provider.Poll(t.Context(), ticket); err != nil || p.State != registry.RunRunning || p.Unknown != "WARMING_UP" {
			t.Errorf("%+v, %v", p, err)
		}
		s.Fail("status", runpodtest.Answer(http.StatusTooManyRequests, `{}`))
		_, err := w.provider.Poll(t.Context(), ticket)
		failure(t, err, registry.CodeRateLimited, true)
		if err := w.provider.Cancel(t.Context(), ticket); err != nil {
			t.Fatal(err)
		}
		if p := w.poll(t, ticket); p.State != registry.RunCanceled {
			t.Errorf("%+v", p)
		}
		s.Forget()
		if err := w.provider.Cancel(t.Context(), ticket); err != nil {
			t.Errorf("canceling what is not known any more: %v", err)
		}
		_, err = w.provider.Poll(t.Context(), ticket)
		failure(t, err, registry.CodeLost, false)
	})
	for status, code := range map[string]registry.Code{"FAILED": registry.CodeProvider, "TIMED_OUT": registry.CodeTimeout, "COMPLETED": registry.CodeBadOutput} {
		t.Run("a job that ends as "+status+" without pictures", func(t *testing.T) {
			t.Parallel()
			s, w := serverless(t, flows)
			s.EndWith(status, false)
			done := w.run(t, w.tools["it"], nil)
			if done.State != registry.RunFailed || done.Err == nil || done.Err.Code != code || strings.Contains(done.Err.Message, "/comfyui") {
				t.Errorf("%+v", done)
			}
		})
	}
	t.Run("too many requests: nothing was begun, and it is tried again", func(t *testing.T) {
		t.Parallel()
		s, w := serverless(t, flows)
		s.Fail("run", runpodtest.Answer(http.StatusTooManyRequests, `{}`))
		var notes []registry.Ticket
		call := w.call(w.tools["it"], nil)
		call.Sending = func(_ context.Context, t registry.Ticket) error { notes = append(notes, t); return nil }
		_, err := w.provider.Submit(t.Context(), call)
		failure(t, err, registry.CodeRateLimited, true)
		if len(notes) != 2 || notes[1].Endpoint != "" {
			t.Errorf("notes %+v", notes)
		}
		call.Repeated = true
		ticket, err := w.provider.Submit(t.Context(), call)
		if err != nil || ticket.ProviderID == "" || len(s.Statuses()) != 1 {
			t.Errorf("%+v, %v, jobs %v", ticket, err, s.Statuses())
		}
		w.poll(t, ticket)
	})
	t.Run("after a kill the job is asked for by its id, and not begun again", func(t *testing.T) {
		t.Parallel()
		s, w := serverless(t, flows)
		s.Hold()
		var sent registry.Ticket
		call := w.call(w.tools["it"], nil)
		call.Sending = func(_ context.Context, t registry.Ticket) error { sent = t; return nil }
		if _, err := w.provider.Submit(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		stored, err := json.Marshal(sent)
		if err != nil || json.Unmarshal(stored, &sent) != nil {
			t.Fatal(err)
		}
		call.Repeated, call.Sent = true, &sent
		again, err := w.provider.Submit(t.Context(), call)
		if err != nil || again.ProviderID != sent.ProviderID || s.Calls("run") != 1 {
			t.Errorf("%+v, %v; begun %d times", again, err, s.Calls("run"))
		}
		s.Release()
		if p := w.poll(t, again); p.Result == nil {
			t.Errorf("%+v", p)
		}
	})
	t.Run("a lost answer: nobody knows the job, so it is not begun again", func(t *testing.T) {
		t.Parallel()
		s, w := serverless(t, flows)
		s.Fail("run", s.CutAfterRun)
		var sent registry.Ticket
		call := w.call(w.tools["it"], nil)
		call.Sending = func(_ context.Context, t registry.Ticket) error { sent = t; return nil }
		_, err := w.provider.Submit(t.Context(), call)
		failure(t, err, registry.CodeLost, false)
		call.Repeated, call.Sent = true, &sent
		_, err = w.provider.Submit(t.Context(), call)
		failure(t, err, registry.CodeLost, false)
		if _, err := w.provider.Find(t.Context(), call); registry.AsError(err).Code != registry.CodeLost {
			t.Errorf("found without an id: %v", err)
		}
		if s.Calls("run") != 1 {
			t.Errorf("begun %d times", s.Calls("run"))
		}
	})
	t.Run("places of jobs that another process saw the end of are free again", func(t *testing.T) {
		t.Parallel()
		s, w := serverless(t, flows)
		s.Hold()
		w.submit(t, w.call(w.tools["it"], nil))
		w.submit(t, w.call(w.tools["it"], nil))
		if w.fleet.Refresh(t.Context()); w.provider.Places() != 0 {
			t.Errorf("%d places beside two jobs", w.provider.Places())
		}
		s.Forget()
		if w.fleet.Refresh(t.Context()); w.provider.Places() != 2 {
			t.Errorf("%d places at an endpoint that has nothing to do", w.provider.Places())
		}
	})
	t.Run("an endpoint gets as many jobs at a time as its file says, and free places are seen", func(t *testing.T) {
		t.Parallel()
		s, w := serverless(t, flows)
		s.Hold()
		first := w.submit(t, w.call(w.tools["it"], nil))
		w.submit(t, w.call(w.tools["it"], nil))
		if _, err := w.provider.Submit(t.Context(), w.call(w.tools["it"], nil)); !strings.Contains(err.Error(), registry.ErrNoPlace.Error()) || w.provider.Places() != 0 {
			t.Errorf("%v, %d places", err, w.provider.Places())
		}
		if err := w.provider.Cancel(t.Context(), first); err != nil || w.provider.Places() != 1 {
			t.Errorf("%v, %d places", err, w.provider.Places())
		}
	})
}

func TestReadEndpoints(t *testing.T) {
	t.Parallel()
	const secret = "rpa_secret"
	good := map[string]any{"endpoint": "https://api.runpod.ai/v2/abc123", "key": secret, "objectInfo": "info.json"}
	with := func(name string, value any) []any {
		entry := map[string]any{}
		maps.Copy(entry, good)
		entry[name] = value
		return []any{entry}
	}
	info := []byte(`{"SaveImage": {"input": {"required": {}}}}`)
	if read, err := comfy.ReadEndpoints(endpointFile(t, []any{good}, info), nil, nil); err != nil || len(read) != 1 || read[0].Name != "api.runpod.ai/v2/abc123" || read[0].AtOnce != 3 {
		t.Errorf("%+v, %v", read, err)
	}
	for want, content := range map[string]any{
		"is not as in":           with("secret", "x"),
		"has an address":         with("endpoint", "abc123"),
		"address such as":        with("endpoint", "https://ann:"+secret+"@api.runpod.ai/v2/x"),
		"needs a key":            with("key", ""),
		"without spaces":         with("key", secret+" x"),
		"needs objectInfo":       with("objectInfo", ""),
		"objectInfo of":          with("objectInfo", "none.json"),
		"number of jobs":         with("atOnce", -1),
		"is there twice":         []any{good, good},
		"no http or https":       with("endpoint", "ftp://api.runpod.ai/v2/x"),
		"endpoints.json is not ": map[string]any{"endpoint": "x"},
	} {
		_, err := comfy.ReadEndpoints(endpointFile(t, content, info), nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
