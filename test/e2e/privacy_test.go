//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestWorkflowInFiles looks into pictures as people get them for what the engine wrote into them.
func TestWorkflowInFiles(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	flow, err := os.ReadFile("../../workflows/wallpaper.json")
	if err != nil {
		t.Fatal(err)
	}
	kept := bytes.Replace(flow, []byte(`@tool name=\"Wallpaper\"`), []byte(`@tool id=kept command=/kept name=\"Kept\" keep-workflow`), 1)
	if bytes.Equal(kept, flow) {
		t.Fatal("the test is wrong: the bundled workflow has another note")
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "kept.json"), string(kept))
	for setting, stays := range map[string]map[string]bool{
		"false": {"wallpaper": false, "kept": true},
		"true":  {"wallpaper": true, "kept": true},
	} {
		t.Run("KEEP_WORKFLOW_IN_FILES="+setting, func(t *testing.T) {
			t.Parallel()
			p := start(t, spec{env: []string{"ADMIN_TOKEN=" + adminToken, "WORKFLOWS_DIR=" + dir, "KEEP_WORKFLOW_IN_FILES=" + setting}})
			c := newClient(p, "ann")
			for tool, want := range stays {
				picture := c.picture(c.succeed(tool, small(64)).Outputs[0].URL)
				if got := bytes.Contains(picture, []byte("class_type")); got != want {
					t.Errorf("the workflow is in a picture of %s: %v", tool, got)
				}
				if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
					t.Errorf("%s: %v", tool, err)
				}
			}
		})
	}
}

// ask sends a request as the page's script does and decodes the answer.
func (g *guest) ask(status int, method, path, kind string, body io.Reader, answer any) {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.p.page+path, body)
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("X-CSRF-Token", g.token)
	res, err := g.http.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err == nil && answer != nil {
		err = json.Unmarshal(data, answer)
	}
	if err != nil || res.StatusCode != status {
		g.t.Fatalf("%s %s: %s, %v: %.300s", method, path, res.Status, err, data)
	}
}

// finished waits for the end of a run.
func (g *guest) finished(id string) (r apiRun) {
	g.t.Helper()
	await(g.t, "run "+id, func() bool {
		g.ask(http.StatusOK, http.MethodGet, "/api/runs/"+id, "", nil, &r)
		return r.final()
	}, g.p.said)
	return r
}

// filesBelow are the files in a folder.
func filesBelow(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		if os.IsNotExist(err) {
			return nil // it is being deleted
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestDeleteEverything has a person upload, run, and delete all that is known of them.
func TestDeleteEverything(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	const name = "ann-at-the-sea"
	p := start(t, spec{})
	ann := p.visit()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("image", name+".png")
	if err == nil {
		err = png.Encode(part, image.NewNRGBA(image.Rect(0, 0, 96, 64)))
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	var made, under apiRun
	ann.ask(http.StatusAccepted, http.MethodPost, "/api/run/filmlook", w.FormDataContentType(), &form, &made)
	if made = ann.finished(made.RunID); made.Status != "succeeded" || made.Cost == 0 {
		t.Fatalf("%+v", made)
	}
	ann.post("/run/" + made.RunID + "/share")
	page := ann.get("/run/" + made.RunID)
	var links []string
	for _, m := range regexp.MustCompile(`"(?:http://[^/"]+)?(/(files|thumbs|s)/[^"]+)"`).FindAllStringSubmatch(page, -1) {
		links = append(links, m[1])
	}
	for _, what := range []string{"/film_00001_.png", "/image", "/thumbs/", "/s/"} { // the result, the upload, its small picture, the share
		if !strings.Contains(strings.Join(links, " "), what) {
			t.Fatalf("no link to %s among %v", what, links)
		}
	}
	status := func(link string) int {
		t.Helper()
		res, err := http.Get(p.page + link)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	for _, link := range links {
		if got := status(link); got != http.StatusOK {
			t.Errorf("before, %s gives %d", link, got)
		}
	}
	ann.ask(http.StatusAccepted, http.MethodPost, "/api/run/wallpaper", "application/json", strings.NewReader(`{"inputs": {"width": 2048, "height": 2048, "batch_size": 4}}`), &under)
	if told := ann.get("/account"); !strings.Contains(told, "The books keep when runs were made and amounts, without a name.") {
		t.Error("nobody says before what stays")
	}

	if told := ann.post("/account/erase", "sure", "1"); !strings.Contains(told, "Your data is deleted, with your uploads and results. The books keep amounts without a name.") {
		t.Errorf("it says %.2000s", told)
	}

	t.Run("old links give 404", func(t *testing.T) {
		for _, link := range append(links, "/run/"+made.RunID) {
			if got := status(link); got != http.StatusNotFound {
				t.Errorf("%s gives %d", link, got)
			}
		}
	})
	t.Run("the files are gone", func(t *testing.T) {
		await(t, "an empty folder", func() bool { return len(filesBelow(t, filepath.Join(p.dir, "assets"))) == 0 },
			func() string { return strings.Join(filesBelow(t, filepath.Join(p.dir, "assets")), "\n") + p.said() })
	})
	t.Run("the books have amounts and times, and no name", func(t *testing.T) {
		row := ann.get("/operator/runs/" + made.RunID) // on the own machine, anyone who comes next is the operator
		if !strings.Contains(row, "Film look") || !strings.Contains(row, "$0.00") || strings.Contains(row, name) {
			t.Errorf("the operator sees %s", row)
		}
		if row := ann.get("/operator/runs/" + under.RunID); !strings.Contains(row, "canceled") {
			t.Errorf("what was under way is %s", row)
		}
	})
	t.Run("the engine's copies are gone", func(t *testing.T) {
		if r := run(t, spec{dir: p.dir, args: []string{"grant", "web:local", "5"}}); r.code != 0 {
			t.Fatalf("grant: %s", r.stderr)
		}
		engine := filepath.Join(p.dir, "engine")
		await(t, "an empty engine", func() bool {
			files := filesBelow(t, engine)
			for _, file := range files { // the engine spares what is younger than a minute: let that have passed
				if err := os.Chtimes(file, time.Time{}, time.Now().Add(-2*time.Minute)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			if len(files) == 0 {
				return true
			}
			var next apiRun // the engine looks at its files whenever a run is over
			ann.ask(http.StatusAccepted, http.MethodPost, "/api/run/wallpaper", "application/json", strings.NewReader(`{"inputs": {"width": 64, "height": 64}}`), &next)
			ann.finished(next.RunID)
			return false
		}, func() string { return strings.Join(filesBelow(t, engine), "\n") + p.said() })
	})
}
