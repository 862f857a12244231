package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/users"
)

// painted runs filmlook with a picture of its own and gives the run's body.
func painted(t *testing.T, c *client, picture []byte) (id, upload, result string) {
	t.Helper()
	res := c.do("POST", "/api/uploads?name=holiday.png", "image/png", bytes.NewReader(picture))
	var kept struct{ Ref, URL string }
	if err := json.NewDecoder(res.Body).Decode(&kept); err != nil {
		t.Fatal(err)
	}
	var begun struct{ RunID string }
	if status := c.call("POST", "/api/run/filmlook", fmt.Sprintf(`{"inputs":{"image":%q}}`, kept.Ref), &begun); status >= 300 {
		t.Fatalf("start: %d", status)
	}
	run := c.finished(begun.RunID)
	if len(run.Outputs) == 0 {
		t.Fatalf("the run: %+v", run)
	}
	path := func(address string) string { return strings.TrimPrefix(address, c.base) }
	return run.RunID, path(kept.URL), path(run.Outputs[0].URL)
}

// TestFilesOfOthers: what a file is called here stands in addresses that may be good no more; it opens no file of somebody else.
func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann, ben := h.developer("ann"), h.developer("ben")
	_, upload, _ := painted(t, ann, photo(t))
	hash := strings.Split(upload, "/")[3]
	var refused struct{ Field, Detail string }
	status := ben.call("POST", "/api/run/filmlook", fmt.Sprintf(`{"inputs":{"image":"asset:%s"}}`, hash), &refused)
	if status != http.StatusUnprocessableEntity || refused.Field != "image" || !strings.Contains(refused.Detail, "no such file") {
		t.Errorf("it is an input: %d, %+v", status, refused)
	}
	for _, inputs := range []string{`{"image":"asset:%s"}`, `{"image":"asset:%s","nonsense":1}`} { // nobody learns by another mistake either which files there are
		var told [2]string
		for i, named := range []string{hash, strings.Repeat("0", 64)} {
			res := ben.do("POST", "/api/run/filmlook", "application/json", strings.NewReader(fmt.Sprintf(`{"inputs":`+inputs+`}`, named)), "X-Trace-Id", "same")
			told[i] = readAll(t, res.Body)
		}
		if told[0] != told[1] {
			t.Errorf("a file of somebody else and none are told apart: %s %s", told[0], told[1])
		}
	}
	owners, err := h.runs.OwnersOf(t.Context(), "asset:"+hash, assets.Reader{})
	if err != nil || len(owners) != 1 {
		t.Errorf("it belongs to %v, %v", owners, err)
	}
}

func TestDeletingARun(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann, ben := h.developer("ann"), h.developer("ben")
	status := func(c *client, method, path string) int { return c.do(method, path, "", nil).StatusCode }
	picture := photo(t)
	id, upload, result := painted(t, ann, picture)
	if got := status(ben, "DELETE", "/api/runs/"+id); got != http.StatusNotFound {
		t.Errorf("a stranger deletes it: %d", got)
	}
	for _, path := range []string{upload, result} {
		if got := status(h.visitor(), "GET", path); got != http.StatusOK {
			t.Errorf("GET %s: %d", path, got)
		}
	}
	if got := status(ann, "DELETE", "/api/runs/"+id); got != http.StatusNoContent {
		t.Fatalf("DELETE: %d", got)
	}
	for _, path := range []string{upload, result, "/api/runs/" + id} {
		if got := status(ann, "GET", path); got != http.StatusNotFound {
			t.Errorf("GET %s after the run was deleted: %d, want 404", path, got)
		}
	}
	var space, files int
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM asset_owners`).Scan(&space); err != nil || space != 0 {
		t.Errorf("%d files are left: %v", space, err)
	}
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM ledger_transfers WHERE run_id = $1`, id).Scan(&files); err != nil || files == 0 {
		t.Errorf("the books have %d rows of the run: %v", files, err)
	}
	if got := status(ann, "DELETE", "/api/runs/"+id); got != http.StatusNotFound {
		t.Errorf("a second DELETE: %d", got)
	}
}

func TestDeletingFromThePage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dev := h.developer("ann")
	id, upload, result := painted(t, dev, photo(t))
	ann := h.visitor()
	ann.form("/signin", url.Values{"key": {dev.key}})
	page := readAll(t, ann.do("GET", "/run/"+id, "", nil).Body)
	if !strings.Contains(page, `action="/run/`+id+`/delete"`) {
		t.Error("the run's page has no button that deletes it")
	}
	if res := ann.form("/run/"+id+"/delete", nil); res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(res.Header.Get("Location"), "/history") {
		t.Errorf("deleting leads to %q, %d", res.Header.Get("Location"), res.StatusCode)
	} else {
		has(t, ann.page(res.Header.Get("Location")), "The run is deleted, with its files.")
	}
	for _, path := range []string{upload, result, "/run/" + id} {
		if got := ann.do("GET", path, "", nil).StatusCode; got != http.StatusNotFound {
			t.Errorf("GET %s: %d, want 404", path, got)
		}
	}
}

func TestDeletingWhatTwoHave(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann, ben := h.developer("ann"), h.developer("ben")
	status := func(path string) int { return h.visitor().do("GET", path, "", nil).StatusCode }
	picture := photo(t)
	hers, upload, _ := painted(t, ann, picture)
	_, his, result := painted(t, ben, picture)
	if upload == his {
		t.Fatalf("both have the address %s", his)
	}
	if got := ann.do("DELETE", "/api/runs/"+hers, "", nil).StatusCode; got != http.StatusNoContent {
		t.Fatalf("DELETE: %d", got)
	}
	for path, want := range map[string]int{upload: http.StatusNotFound, his: http.StatusOK, result: http.StatusOK} {
		if got := status(path); got != want {
			t.Errorf("GET %s: %d, want %d", path, got, want)
		}
	}
}

func TestDeletingOnePicture(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann, ben := h.developer("ann"), h.developer("ben")
	id, upload, result := painted(t, ann, photo(t))
	path := "/api/runs/" + id + "/outputs/0"
	for _, try := range []struct {
		who  *client
		path string
		want int
	}{{ben, path, http.StatusNotFound}, {ann, "/api/runs/" + id + "/outputs/7", http.StatusNotFound}, {ann, "/api/runs/" + id + "/outputs/x", http.StatusNotFound}, {ann, path, http.StatusNoContent}, {ann, path, http.StatusNoContent}} {
		if got := try.who.do("DELETE", try.path, "", nil).StatusCode; got != try.want {
			t.Errorf("DELETE %s: %d, want %d", try.path, got, try.want)
		}
	}
	for path, want := range map[string]int{result: http.StatusNotFound, upload: http.StatusOK} {
		if got := h.visitor().do("GET", path, "", nil).StatusCode; got != want {
			t.Errorf("GET %s: %d, want %d", path, got, want)
		}
	}
	var run struct {
		Outputs []struct {
			Deleted bool
			URL     string
		}
	}
	if status := ann.call("GET", "/api/runs/"+id, "", &run); status != http.StatusOK || len(run.Outputs) == 0 || !run.Outputs[0].Deleted || run.Outputs[0].URL != "" {
		t.Errorf("the run: %d, %+v", status, run)
	}
}

func TestFilesOfOldRuns(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann := h.developer("ann")
	id, upload, result := painted(t, ann, photo(t))
	expire := func(days int) {
		if _, err := h.pool.Exec(t.Context(), `UPDATE asset_owners SET put_at = put_at - interval '9 days'; UPDATE assets SET put_at = put_at - interval '9 days'; UPDATE runs SET ended_at = ended_at - interval '9 days'`); err != nil {
			t.Fatal(err)
		}
		if err := h.runs.Expire(t.Context(), time.Duration(days)*24*time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := h.assets.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look := func(want int) {
		t.Helper()
		for _, path := range []string{upload, result} {
			if got := h.visitor().do("GET", path, "", nil).StatusCode; got != want {
				t.Errorf("GET %s: %d, want %d", path, got, want)
			}
		}
	}
	expire(0)
	look(http.StatusOK)
	expire(30)
	look(http.StatusOK)
	expire(7)
	look(http.StatusNotFound)
	run, err := h.runs.Get(t.Context(), id)
	if err != nil || run.FilesDeletedAt == nil || !run.Outputs[0].Deleted || run.Outputs[0].Media != "" || run.Inputs["image"] != nil {
		t.Errorf("the run: %+v, %v", run, err)
	}
}

func TestThumbnailsOfLists(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann := h.developer("ann")
	id, _, _ := painted(t, ann, photo(t))
	page := ann.page("/history") + ann.page("/") + ann.page("/run/"+id)
	found := regexp.MustCompile(`src="(/thumbs/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(found) < 3 {
		t.Fatalf("there are %d thumbnails", len(found))
	}
	if list := ann.page("/history"); strings.Contains(list, `src="/files/`) {
		t.Error("the history loads originals")
	}
	for _, m := range found {
		res := h.visitor().do("GET", m[1], "", nil)
		if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || kind != "image/jpeg" && kind != "image/png" {
			t.Errorf("GET %s: %d, %s", m[1], res.StatusCode, kind)
		}
	}
	thumb := found[0][1]
	forged := strings.Replace(thumb, strings.Split(thumb, "/")[2], strings.Repeat("0", 32), 1)
	for _, path := range []string{forged, strings.TrimSuffix(thumb, "512") + "777", strings.TrimSuffix(thumb, "512") + "x"} {
		if got := h.visitor().do("GET", path, "", nil).StatusCode; got != http.StatusNotFound {
			t.Errorf("GET %s: %d, want 404", path, got)
		}
	}
	if got := ann.do("DELETE", "/api/runs/"+id, "", nil).StatusCode; got != http.StatusNoContent {
		t.Fatalf("DELETE: %d", got)
	}
	for _, m := range found {
		if got := h.visitor().do("GET", m[1], "", nil).StatusCode; got != http.StatusNotFound {
			t.Errorf("GET %s after its run was deleted: %d", m[1], got)
		}
	}
}

func TestUploadLimit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann := h.developer("ann")
	_, upload, _ := painted(t, ann, photo(t))
	owners, err := h.runs.OwnersOf(t.Context(), "asset:"+strings.Split(upload, "/")[3], assets.Reader{})
	if err != nil || len(owners) != 1 {
		t.Fatal(owners, err)
	}
	if err := h.users.SetLimits(t.Context(), owners[0], users.Limits{UploadBytes: 1, ResultBytes: 1}, "test", "a test"); err != nil {
		t.Fatal(err)
	}
	var problem struct{ Detail string }
	if status := ann.call("POST", "/api/uploads?name=more.bin", "more bytes", &problem); status != http.StatusTooManyRequests || !strings.Contains(problem.Detail, "your uploads take") {
		t.Errorf("an upload above the limit: %d, %q", status, problem.Detail)
	}
	if status := ann.call("POST", "/api/run/wallpaper", `{"inputs":{}}`, &problem); status != http.StatusTooManyRequests || !strings.Contains(problem.Detail, "your results take") {
		t.Errorf("a run above the limit: %d, %q", status, problem.Detail)
	}
	if err := h.users.SetLimits(t.Context(), owners[0], users.Limits{UploadBytes: -1, ResultBytes: -1}, "test", "an exception"); err != nil {
		t.Fatal(err)
	}
	if status := ann.call("POST", "/api/uploads?name=more.bin", "more bytes", nil); status != http.StatusCreated {
		t.Errorf("an upload after the exception: %d", status)
	}
}
