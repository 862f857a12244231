package web_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/assets"
)

func TestUploads(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	picture := photo(t)
	res := h.developer("ann").do("POST", "/api/uploads?name=photo.png", "image/png", bytes.NewReader(picture))
	var kept struct{ Ref, URL string }
	if err := json.NewDecoder(res.Body).Decode(&kept); err != nil || !strings.HasPrefix(kept.Ref, "asset:") {
		t.Fatalf("kept as %q: %v", kept.Ref, err)
	}
	file := strings.TrimPrefix(kept.URL, h.url)
	address := "/uploads/" + strings.TrimPrefix(file, "/files/")
	t.Run("D85 a kept picture has a relative address under /uploads/", func(t *testing.T) {
		res := h.visitor().do("GET", address, "", nil)
		if got := readAll(t, res.Body); !strings.HasPrefix(address, "/uploads/") || res.StatusCode != http.StatusOK || got != string(picture) || res.Header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: status %d, %d bytes of %q", address, res.StatusCode, len(got), res.Header.Get("Content-Type"))
		}
	})
	t.Run("D85 it opens by its signature alone, as /files/ does", func(t *testing.T) {
		forged := "/uploads/" + strings.Repeat("0", 32) + "/" + strings.TrimPrefix(kept.Ref, "asset:") + "/photo.png"
		if res := h.visitor().do("GET", forged, "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("a guessed address: status %d", res.StatusCode)
		}
		if owners, err := h.runs.OwnersOf(t.Context(), kept.Ref, assets.Reader{}); err != nil || len(owners) != 1 || h.web.UploadPath(owners[0], kept.Ref, "photo.png") != address || strings.TrimPrefix(file, "/files/") != strings.TrimPrefix(address, "/uploads/") {
			t.Errorf("the two addresses are %s and %s", file, address)
		}
	})
}
