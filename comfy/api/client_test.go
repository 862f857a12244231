package api_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/comfytest"
)

func TestClient(t *testing.T) {
	t.Parallel()
	t.Run("a server below a path, with a name and a password", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		address := s.URL()
		address.Path = "/api"
		client := api.New(address, nil)
		if stats, err := client.SystemStats(t.Context()); err != nil || stats.Version == "" || !slices.Equal(stats.GPUs, []string{"cpu"}) {
			t.Errorf("%+v, %v", stats, err)
		}
		socket, err := client.Dial(t.Context(), "0b0cf4a2-7b0e-4c50-8a3c-6a2a6f3b3a01")
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		if e, err := socket.Read(t.Context()); err != nil || e.Type != "status" || e.Queue != 0 {
			t.Errorf("%+v, %v", e, err)
		}
	})
	t.Run("an upload is stored under the name that comes back", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		client := api.New(s.URL(), nil)
		for _, c := range []struct{ content, name string }{{"one", "a.png"}, {"one", "a.png"}, {"two", "a (1).png"}} {
			f, err := client.Upload(t.Context(), "dir/a.png", strings.NewReader(c.content))
			if err != nil || f.InputName() != c.name {
				t.Errorf("%+v, %v, expected %s", f, err, c.name)
			}
		}
	})
	t.Run("an upload whose content can't be read fails", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		client := api.New(s.URL(), nil)
		if _, err := client.Upload(t.Context(), "a.png", unreadable{}); err == nil {
			t.Error("no error")
		}
	})
}

// unreadable fails after the first byte.
type unreadable struct{}

func (unreadable) Read([]byte) (int, error) { return 0, context.DeadlineExceeded }
