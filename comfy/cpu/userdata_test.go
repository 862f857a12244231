package cpu_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/signalbox/signalbox/comfy/cpu"
)

// asked is a request and what its answer must be: exactly so, or holding it where it ends in "...".
type asked struct {
	method, path, body string
	status             int
	want               string
}

func (s *server) askAll(t *testing.T, all []asked) {
	t.Helper()
	for _, a := range all {
		answer := s.do(t, a.method, a.path, map[string]string{"Content-Type": "application/json"}, []byte(a.body))
		part, open := strings.CutSuffix(a.want, "...")
		if got := string(answer.body); answer.status != a.status || got != a.want && (!open || !strings.Contains(got, part)) {
			t.Errorf("%s %s: %d %.300q, want %d %q", a.method, a.path, answer.status, got, a.status, a.want)
		}
	}
}

func TestUserData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "user")
	srv := newServer(t, cpu.Config{User: dir})
	srv.askAll(t, []asked{
		{"GET", "/users", "", 200, `{"storage": "server", "migrated": false}`},
		{"GET", "/v2/userdata", "", 200, `[]`},
		{"GET", "/userdata", "", 400, "Directory not provided"},
		{"GET", "/userdata?dir=workflows", "", 404, "Directory not found"},
		{"GET", "/userdata/a.json", "", 404, ""},
		{"POST", "/userdata/workflows%2Fa.json?overwrite=true", `{"a": 1}`, 200, `"workflows/a.json"`},
		{"POST", "/userdata/workflows%252Fsub%252Fb.json", `b`, 200, `"workflows/sub/b.json"`},
		{"POST", "/api/userdata/workflows%2F.hidden?full_info=true", `h`, 200, `{"path": "workflows/.hidden", "size": 1, "modified": ...`},
		{"POST", "/userdata/workflows%2Fa.json?overwrite=false", `{"a": 2}`, 409, "File already exists"},
		{"POST", "/userdata/workflows", "x", 400, "Invalid filename..."},
		{"GET", "/userdata/workflows%2Fa.json", "", 200, `{"a": 1}`},
		{"GET", "/userdata/workflows", "", 404, ""},
		{"GET", "/userdata?dir=workflows", "", 200, `["a.json"]`},
		{"GET", "/userdata?dir=workflows&recurse=true", "", 200, `["a.json", "sub/b.json"]`},
		{"GET", "/userdata?dir=workflows&recurse=true&split=true", "", 200, `[["a.json", "a.json"], ["sub/b.json", "sub", "b.json"]]`},
		{"GET", "/userdata?dir=workflows&full_info=true", "", 200, `[{"path": "a.json", "size": 8, ...`},
		{"GET", "/v2/userdata?path=workflows", "", 200, `[{"name": "sub", "path": "workflows/sub", "type": "directory"}, ...`},
		{"GET", "/v2/userdata?path=none", "", 404, "Requested path not found"},
		{"POST", "/userdata/workflows%2Fa.json/move/old%2Fc.json?overwrite=false", "", 200, `"old/c.json"`},
		{"POST", "/userdata/old%2Fc.json/move/workflows%2Fsub%2Fb.json?overwrite=false", "", 409, "File already exists"},
		{"POST", "/userdata/none/move/x", "", 404, ""},
		{"DELETE", "/userdata/old%2Fc.json", "", 204, ""},
		{"DELETE", "/userdata/old%2Fc.json", "", 404, ""},
		{"GET", "/users", "", 200, `{"storage": "server", "migrated": true}`},

		{"GET", "/settings", "", 200, `{}`},
		{"GET", "/settings/Comfy.Locale", "", 200, `null`},
		{"POST", "/settings/Comfy.Locale", `"cs"`, 200, ""},
		{"POST", "/settings", `{"n": 1, "o": {"p": [2]}}`, 200, ""},
		{"POST", "/settings", `[]`, 500, "500 Internal..."},
		{"GET", "/settings", "", 200, `{"Comfy.Locale": "cs", "n": 1, "o": {"p": [2]}}`},
		{"GET", "/settings/o", "", 200, `{"p": [2]}`},
		{"POST", "/settings/big", `"` + strings.Repeat("x", 2<<20) + `"`, 413, "Maximum..."},
		{"POST", "/userdata/big", strings.Repeat("x", 33<<20), 413, "Maximum..."},
	})
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", name, info.Mode())
		}
		if strings.HasSuffix(name, ".part") {
			t.Errorf("%s is left", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestUserDataStaysInItsFolder sends names that lead out of it, by themselves and through a link.
func TestUserDataStaysInItsFolder(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	secret := filepath.Join(base, "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "user")
	srv := newServer(t, cpu.Config{User: dir})
	if err := os.MkdirAll(filepath.Join(dir, "default"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(base, filepath.Join(dir, "default", "link")); err != nil {
		t.Fatal(err)
	}
	srv.askAll(t, []asked{{"POST", "/userdata/mine", "x", 200, `"mine"`}})
	for _, name := range []string{
		"..%2Fsecret.txt", "..%2F..%2Fsecret.txt", "a%2F..%2F..%2Fsecret.txt", "%252e%252e%252f%252e%252e%252fsecret.txt",
		strings.ReplaceAll(secret, "/", "%2F"), "%2e%2e", "link%2Fsecret.txt", "a%00b",
	} {
		for _, a := range []asked{
			{"GET", "/userdata/" + name, "", 0, ""}, {"POST", "/userdata/" + name, "x", 0, ""}, {"DELETE", "/userdata/" + name, "", 0, ""},
			{"POST", "/userdata/" + name + "/move/got", "", 0, ""}, {"POST", "/userdata/mine/move/" + name, "", 0, ""},
			{"GET", "/userdata?recurse=true&dir=" + name, "", 0, ""}, {"GET", "/v2/userdata?path=" + name, "", 0, ""},
		} {
			if answer := srv.do(t, a.method, a.path, nil, []byte(a.body)); answer.status < 300 || strings.Contains(string(answer.body), "secret") {
				t.Errorf("%s %s: %d %.200s", a.method, a.path, answer.status, answer.body)
			}
		}
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "secret" {
		t.Errorf("the file outside is %q, %v", data, err)
	}
}

func TestAnEngineWithoutUserDataKeepsNone(t *testing.T) {
	t.Parallel()
	newServer(t, cpu.Config{}).askAll(t, []asked{
		{"POST", "/userdata/a", "x", 403, ""}, {"GET", "/userdata/a", "", 403, ""}, {"DELETE", "/userdata/a", "", 403, ""},
		{"POST", "/userdata/a/move/b", "", 403, ""}, {"GET", "/v2/userdata", "", 200, "[]"}, {"GET", "/userdata?dir=a", "", 404, "Directory not found"},
		{"POST", "/settings", "{}", 403, ""}, {"POST", "/settings/a", "1", 403, ""}, {"GET", "/settings/a", "", 200, "null"},
	})
}

func TestModelFolders(t *testing.T) {
	t.Parallel()
	newServer(t, cpu.Config{}).askAll(t, []asked{
		{"GET", "/experiment/models", "", 200, `[{"name": "checkpoints", "folders": []}, ...`},
		{"GET", "/experiment/models/loras", "", 200, "[]"},
		{"GET", "/experiment/models/none", "", 404, ""},
		{"GET", "/workflow_templates", "", 200, "{}"},
	})
}

// TestLogs reads what ran, and hears it over a socket once it asks to.
func TestLogs(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	srv.askAll(t, []asked{
		{"GET", "/internal/logs", "", 200, `""`},
		{"GET", "/internal/logs/raw", "", 200, `{"entries": [], "size": {"cols": 80, "rows": 24}}`},
	})
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http")+"/ws?clientId=c", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	if _, _, err := conn.Read(t.Context()); err != nil { // it has joined
		t.Fatal(err)
	}
	srv.askAll(t, []asked{{"PATCH", "/internal/logs/subscribe", `{"clientId": "c", "enabled": true}`, 200, ""}})
	srv.run(t, `{"1": {"class_type": "PreviewAny", "inputs": {"source": "hello"}}}`)
	for heard := false; !heard; {
		_, data, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		heard = strings.HasPrefix(string(data), `{"type": "logs"`) && strings.Contains(string(data), "Prompt executed in ")
	}
	srv.askAll(t, []asked{
		{"GET", "/internal/logs", "", 200, ` - got prompt\n...`},
		{"GET", "/internal/logs/raw", "", 200, `"m": "Prompt executed in ...`},
		{"PATCH", "/internal/logs/subscribe", `{"clientId": "c", "enabled": false}`, 200, ""},
	})
	for range 400 {
		srv.do(t, http.MethodPost, "/prompt", nil, []byte(`{}`))
	}
	raw := srv.do(t, http.MethodGet, "/internal/logs/raw", nil, nil).json(t).(map[string]any)
	if n := len(raw["entries"].([]any)); n != 300 {
		t.Errorf("%d lines are kept, want 300", n)
	}
}
