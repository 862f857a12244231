package runner

import (
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// TestFileNames has services that name no files, or name them badly: who downloads one, and the clients of /mcp, need a name.
func TestFileNames(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
		files := []registry.Output{runstest.Text("result", "la"), runstest.File("cover", "image", "", "x"), runstest.File("clip", "video", "take 2", "y"), runstest.File("score", "file", "", "z"), runstest.File("sheet", "file", "score.txt", "w")}
		files[1].Info.MIMEType, files[2].Info.MIMEType, files[3].Info.MIMEType, files[4].Info.MIMEType = "image/jpeg", "video/mp4", "application/x-nobody-knows", "application/pdf"
		return &runstest.Outcome{Outputs: files}
	}
	h.start(t)
	id := h.accept(t, sing(h.user(t, billing.Dollar))).ID
	want := []string{"", "cover.jpg", "take 2.mp4", "score", "score.txt"}
	check := func(run runs.Run) {
		t.Helper()
		for i, name := range want {
			if run.Outputs[i].FileName != name {
				t.Errorf("output %d is called %q, want %q", i, run.Outputs[i].FileName, name)
			}
		}
	}
	check(h.delivered(t, id))
	_, err := h.pool.Exec(t.Context(), `UPDATE runs SET outputs = replace(outputs::text, '"fileName":"cover.jpg",', '')::json WHERE id = $1`, id)
	if err != nil {
		t.Fatal(err)
	}
	run, err := h.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	check(run)
}
