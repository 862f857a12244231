package comfytest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// maxRequest is the body limit of a real server.
const maxRequest = 100 << 20

var canonicalUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// Call is one request as it came.
type Call struct {
	Method, Path string // the path without /api
	Query        url.Values
	Body         []byte
	PromptID     string // that the body names, or the path of GET /history/{id}
}

// Is tells whether the call goes to a route, written like "POST /prompt"; one that ends in a slash covers what is below.
func (c Call) Is(route string) bool {
	method, where, _ := strings.Cut(route, " ")
	if method != c.Method {
		return false
	}
	return c.Path == where || strings.HasSuffix(where, "/") && strings.HasPrefix(c.Path, where)
}

func readCall(r *http.Request) (Call, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	if err != nil {
		return Call{}, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	c := Call{Method: r.Method, Path: bare(r.URL.Path), Query: r.URL.Query(), Body: body}
	var named struct {
		PromptID string `json:"prompt_id"`
	}
	if json.Unmarshal(body, &named) == nil {
		c.PromptID = named.PromptID
	}
	if id, ok := strings.CutPrefix(c.Path, "/history/"); ok {
		c.PromptID = id
	}
	return c, nil
}

// note remembers a call and finds the fault that is scripted for it.
func (s *Server) note(c Call) Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	for _, r := range s.rules {
		if r.left != 0 && c.Is(r.route) {
			r.left--
			return r.do
		}
	}
	return nil
}

// Calls are the calls to a route so far, such as "POST /prompt".
func (s *Server) Calls(route string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if c.Is(route) {
			out = append(out, c)
		}
	}
	return out
}

// Runs counts how often a prompt id was accepted; an empty id counts all prompts.
func (s *Server) Runs(promptID string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if promptID != "" {
		return s.runs[promptID]
	}
	total := 0
	for _, n := range s.runs {
		total += n
	}
	return total
}

// check fails the test on a request that would harm a real server or somebody else's run, or can't be meant.
func (s *Server) check(r *http.Request, c Call) {
	bad := func(format string, args ...any) {
		s.t.Errorf("comfytest: %s %s: "+format, append([]any{c.Method, c.Path}, args...)...)
	}
	if r.Header.Get("Origin") != "" {
		bad("an Origin header, which a real server may refuse")
	}
	if len(c.Body) > maxRequest {
		bad("a body over %d bytes", maxRequest)
	}
	switch {
	case c.Is("POST /prompt"):
		checkPrompt(c, bad)
	case c.Is("POST /interrupt"):
		if !canonicalUUID.MatchString(c.PromptID) {
			bad("without a prompt_id it stops whatever runs, for whomever: %.200s", c.Body)
		}
	case c.Is("POST /queue"), c.Is("POST /history"):
		checkDelete(c, bad)
	case c.Is("GET /history"):
		bad("all of the history instead of one prompt's")
	case c.Is("GET /view"):
		checkView(c, bad)
	case c.Is("POST /upload/image"):
		checkUpload(r, c, bad)
	case c.Is("GET /ws") && c.Query.Get("clientId") == "":
		bad("no clientId")
	}
}

type complain func(format string, args ...any)

func checkPrompt(c Call, bad complain) {
	v, err := pyval.Parse(c.Body)
	body, ok := v.(*pyval.Dict)
	if err != nil || !ok {
		bad("the body is not a JSON object (%v): a real server answers 500", err)
		return
	}
	if id, ok := body.At("prompt_id").(string); !ok || !canonicalUUID.MatchString(id) {
		bad("prompt_id %v is no UUID in canonical lower case", body.At("prompt_id"))
	}
	if id, ok := body.At("client_id").(string); !ok || id == "" {
		bad("client_id %v is no text; a list would end a real server", body.At("client_id"))
	}
	if prompt, ok := body.At("prompt").(*pyval.Dict); !ok || prompt.Len() == 0 {
		bad("no prompt")
	}
	if extra, given := body.Get("extra_data"); given {
		if _, ok := extra.(*pyval.Dict); !ok {
			bad("extra_data is no object: a real server answers 500")
		}
	}
	for _, key := range []string{"number", "front"} {
		if _, given := body.Get(key); given {
			bad("%s jumps the queue that others wait in", key)
		}
	}
}

func checkDelete(c Call, bad complain) {
	var body struct {
		Clear  bool     `json:"clear"`
		Delete []string `json:"delete"`
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		bad("the body is not as expected: %v", err)
	}
	if body.Clear {
		bad("clears what belongs to others")
	}
	for _, id := range body.Delete {
		if !canonicalUUID.MatchString(id) {
			bad("%q is no prompt id", id)
		}
	}
}

func checkView(c Call, bad complain) {
	name, sub := c.Query.Get("filename"), c.Query.Get("subfolder")
	if name == "" || strings.ContainsAny(name, "/\\:") || strings.HasSuffix(name, "]") || len(name) > 255 {
		bad("filename %.300q is not a plain name", name)
	}
	if strings.HasPrefix(sub, "/") || strings.HasPrefix(sub, `\`) || strings.Contains(sub, "..") || strings.Contains(sub, ":") {
		bad("subfolder %.300q may lead out of the folder", sub)
	}
	switch c.Query.Get("type") {
	case "output", "temp", "input":
	default:
		bad("type %q: a real server answers 400", c.Query.Get("type"))
	}
}

func checkUpload(r *http.Request, c Call, bad complain) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		bad("no multipart form: %v", err)
		return
	}
	form := multipart.NewReader(bytes.NewReader(c.Body), params["boundary"])
	for {
		part, err := form.NextRawPart()
		if err != nil {
			bad("no file under the name image: a real server answers 500 or 400 (%v)", err)
			return
		}
		_, disposition, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if part.FormName() != "image" {
			continue
		}
		if name := disposition["filename"]; name == "" || name != path.Base(name) || strings.ContainsAny(name, `\:`) {
			bad("the file's name %q is not plain", name)
		}
		return
	}
}

// judge looks at the engine's own answer: what it refuses in this way no client should have sent.
func (s *Server) judge(c Call, rec *httptest.ResponseRecorder, engine *cpu.Engine) {
	switch {
	case rec.Code >= http.StatusInternalServerError, rec.Code == http.StatusMethodNotAllowed:
		s.t.Errorf("comfytest: %s %s: a real server answers %d to %.300s", c.Method, c.Path, rec.Code, c.Body)
	case rec.Code != http.StatusOK:
		return
	case c.Is("POST /prompt"):
		s.accepted(c.PromptID, engine)
	case c.Is("POST /interrupt"):
		s.interrupt(c.PromptID)
	}
}

// accepted counts a prompt, which must not come twice: a real server would run it twice, unless it was restarted in between.
func (s *Server) accepted(id string, by *cpu.Engine) {
	s.mu.Lock()
	s.runs[id]++
	twice := s.takenBy[id] == by
	s.takenBy[id] = by
	s.mu.Unlock()
	if twice {
		s.t.Errorf("comfytest: prompt %s was submitted twice", id)
	}
}

// stats puts the version and the device of the options into the answer.
func (s *Server) stats(body []byte) []byte {
	s.mu.Lock()
	version, gpu := s.version, s.opts.GPU
	s.mu.Unlock()
	v, err := pyval.Parse(body)
	root, ok := v.(*pyval.Dict)
	if err != nil || !ok {
		return body
	}
	if version != "" {
		root.At("system").(*pyval.Dict).Set("comfyui_version", version)
	}
	if gpu != "" {
		root.Set("devices", []any{pyval.D("name", gpu, "type", "cuda", "index", int64(0))})
	}
	return []byte(pyval.Dumps(root))
}

// bare is the path without the prefix under which every route exists a second time.
func bare(path string) string {
	if rest, ok := strings.CutPrefix(path, "/api/"); ok && !strings.HasPrefix(rest, "jobs") {
		return "/" + rest
	}
	return path
}
