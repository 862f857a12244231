// Package api speaks the protocol of one ComfyUI server: HTTP, and the socket of events. Nothing that a server sends is trusted to be small or
// of the expected shape, since answers depend on nodes of third parties.
package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/errs"
)

// Limits of what is read from an engine. ComfyUI has no authentication and its answers depend on
// third-party nodes, so nothing it sends is trusted to be small.
const (
	MaxJSON       = 64 << 20  // object_info of a server with many custom nodes is about 20 MB
	maxErrorBody  = 1 << 20   // validation errors repeat the input's configuration
	maxResultFile = 512 << 20 // one output file
)

// Client speaks the HTTP protocol of one ComfyUI server. It is safe for concurrent use.
type Client struct {
	base *url.URL
	http *http.Client
}

// New returns a client for the server at base. A nil httpClient means one without a total time
// limit: every call is bounded by its context instead, since results may be large.
func New(base *url.URL, httpClient *http.Client) *Client {
	if httpClient == nil {
		httpClient = &http.Client{Transport: NewTransport()}
	}
	return &Client{base: base, http: httpClient}
}

// connectTimeout bounds making a connection: a busy server's system still takes it at once.
const connectTimeout = 5 * time.Second

func NewTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 2 * time.Minute // a busy Python server answers late, a dead one never
	t.MaxIdleConnsPerHost = 16
	t.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	return t
}

// Submission is the answer to an accepted prompt.
type Submission struct {
	PromptID   string
	Number     json.Number
	NodeErrors map[string]NodeError // not empty on a 200: only part of the outputs will run
}

// NodeError says what is wrong with one node of a refused prompt.
type NodeError struct {
	Errors           []ErrorDetail `json:"errors"`
	DependentOutputs []string      `json:"dependent_outputs"`
	ClassType        string        `json:"class_type"`
}

// ErrorDetail is ComfyUI's error object.
type ErrorDetail struct {
	Type      string         `json:"type"`
	Message   string         `json:"message"`
	Details   string         `json:"details"`
	ExtraInfo map[string]any `json:"extra_info"`
}

// PromptError is a refused prompt. Its text is for logs: details may repeat values of the prompt.
type PromptError struct {
	Status     int
	Detail     ErrorDetail
	NodeErrors map[string]NodeError
}

func (e *PromptError) Error() string {
	text := fmt.Sprintf("comfyui refused the prompt (%d %s): %s", e.Status, e.Detail.Type, e.Detail.Message)
	if nodes := e.Problems(); len(nodes) > 0 {
		text += ": " + strings.Join(nodes[:min(len(nodes), 8)], ", ")
	}
	return text
}

// Problems says what is wrong with which input of which node, without any values.
func (e *PromptError) Problems() []string {
	var list []string
	for id, n := range e.NodeErrors {
		for _, d := range n.Errors {
			input, _ := d.ExtraInfo["input_name"].(string)
			list = append(list, fmt.Sprintf("node %.20q: %s: %s", id, Short(n.ClassType+"."+input), Short(d.Type)))
		}
	}
	slices.Sort(list)
	return list
}

// Short brings a stranger's name into one line of at most 40 characters.
func Short(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	if r := []rune(name); len(r) > 40 {
		name = string(r[:39]) + "…"
	}
	return name
}

// ErrUnreached is in the chain of an error after which it is certain that nothing has left: no connection came about. That is so when
// it is refused, when the name is not found, and when the encryption can't be agreed on.
var ErrUnreached = errors.New("the engine can't be reached")

// ErrPage is in the chain of an error for a page, such as one for signing in, in place of a file.
var ErrPage = errors.New("a page came in place of a file; look at what stands in front of the engine")

// StatusError is an answer of an unexpected kind.
type StatusError struct {
	Method, Path string
	Status       int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("comfyui answered %d to %s %s", e.Status, e.Method, e.Path)
}

// SubmitOptions accompany a prompt.
type SubmitOptions struct {
	PromptID  string          // canonical lower-case UUID; the handle by which the run is found again
	ClientID  string          // whose socket gets the events
	Workflow  json.RawMessage // the graph, embedded in saved files; may be nil
	ExtraData map[string]any
}

// Submit queues a prompt. A refused one gives a *PromptError. The server does not refuse a repeated
// prompt id: ask Queue and History first when an earlier answer may have been lost.
func (c *Client) Submit(ctx context.Context, prompt graph.Prompt, o SubmitOptions) (Submission, error) {
	extra := map[string]any{}
	maps.Copy(extra, o.ExtraData)
	if len(o.Workflow) > 0 {
		extra["extra_pnginfo"] = map[string]any{"workflow": o.Workflow}
	}
	body, err := json.Marshal(map[string]any{
		"prompt": prompt, "prompt_id": o.PromptID, "client_id": o.ClientID, "extra_data": extra,
	})
	if err != nil {
		return Submission{}, fmt.Errorf("encoding the prompt: %w", err)
	}
	res, err := c.do(ctx, http.MethodPost, "/prompt", nil, "application/json", bytes.NewReader(body))
	if err != nil {
		return Submission{}, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return Submission{}, readPromptError(res)
	}
	var answer struct {
		PromptID   string          `json:"prompt_id"`
		Number     json.Number     `json:"number"`
		NodeErrors json.RawMessage `json:"node_errors"`
	}
	if err := DecodeJSON(res.Body, maxErrorBody, &answer); err != nil {
		return Submission{}, fmt.Errorf("reading the answer to /prompt: %w", err)
	}
	return Submission{PromptID: answer.PromptID, Number: answer.Number, NodeErrors: decodeNodeErrors(answer.NodeErrors)}, nil
}

// MayHaveTaken tells whether the server may have taken a prompt whose submission failed.
func MayHaveTaken(err error) bool {
	var refused *PromptError
	var status *StatusError
	switch {
	case errors.As(err, &refused):
		return false
	case errors.As(err, &status):
		return status.Status >= http.StatusInternalServerError
	}
	return true
}

// readPromptError copes with the three historic shapes of the error member and with a bare 500, which
// is what a body that is not JSON gets.
func readPromptError(res *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if err != nil {
		return fmt.Errorf("reading a refusal of /prompt: %w", err)
	}
	e := &PromptError{Status: res.StatusCode}
	var body struct {
		Error      json.RawMessage `json:"error"`
		NodeErrors json.RawMessage `json:"node_errors"`
	}
	if json.Unmarshal(data, &body) != nil {
		return &StatusError{Method: http.MethodPost, Path: "/prompt", Status: res.StatusCode}
	}
	var text string
	if json.Unmarshal(body.Error, &text) == nil {
		e.Detail = ErrorDetail{Type: "invalid_prompt", Message: text}
	} else if json.Unmarshal(body.Error, &e.Detail) != nil {
		return &StatusError{Method: http.MethodPost, Path: "/prompt", Status: res.StatusCode}
	}
	e.NodeErrors = decodeNodeErrors(body.NodeErrors)
	if class, _ := e.Detail.ExtraInfo["class_type"].(string); len(e.NodeErrors) == 0 && class != "" { // a node that the server does not have
		e.NodeErrors = map[string]NodeError{fmt.Sprint(e.Detail.ExtraInfo["node_id"]): {Errors: []ErrorDetail{e.Detail}, ClassType: class}}
	}
	return e
}

// decodeNodeErrors accepts the object and, of some versions, the empty list.
func decodeNodeErrors(raw json.RawMessage) map[string]NodeError {
	var byNode map[string]NodeError
	if json.Unmarshal(raw, &byNode) != nil {
		return nil
	}
	return byNode
}

// Queue is what waits and what runs on a server, in order, by prompt id.
type Queue struct {
	Running, Pending []string

	clients map[string]string // by prompt id: to whom its events go
}

// Position is where the prompt waits: 0 running, 1 next, -1 not in the queue.
func (q Queue) Position(promptID string) int {
	if slices.Contains(q.Running, promptID) {
		return 0
	}
	if i := slices.Index(q.Pending, promptID); i >= 0 {
		return i + 1
	}
	return -1
}

// Client is the client id that a prompt in the queue was sent with, "" for one that is not there.
func (q Queue) Client(promptID string) string { return q.clients[promptID] }

// Queue lists the server's queue.
func (c *Client) Queue(ctx context.Context) (Queue, error) {
	var raw struct {
		Running []queueItem `json:"queue_running"`
		Pending []queueItem `json:"queue_pending"`
	}
	if err := c.getJSON(ctx, "/queue", nil, &raw); err != nil {
		return Queue{}, err
	}
	sortByNumber(raw.Pending)
	q := Queue{clients: make(map[string]string)}
	for _, it := range raw.Running {
		q.Running, q.clients[it.promptID] = append(q.Running, it.promptID), it.clientID
	}
	for _, it := range raw.Pending {
		q.Pending, q.clients[it.promptID] = append(q.Pending, it.promptID), it.clientID
	}
	return q, nil
}

// QueueLength asks only for the count of prompts running and pending.
func (c *Client) QueueLength(ctx context.Context) (int, error) {
	var raw struct {
		ExecInfo struct {
			QueueRemaining int `json:"queue_remaining"`
		} `json:"exec_info"`
	}
	err := c.getJSON(ctx, "/prompt", nil, &raw)
	return raw.ExecInfo.QueueRemaining, err
}

// History gives the entry of a finished prompt; false while it is not finished, or unknown.
func (c *Client) History(ctx context.Context, promptID string) (HistoryEntry, bool, error) {
	var entries map[string]json.RawMessage
	if err := c.getJSON(ctx, "/history/"+url.PathEscape(promptID), nil, &entries); err != nil {
		return HistoryEntry{}, false, err
	}
	raw, over := entries[promptID]
	if !over {
		return HistoryEntry{}, false, nil
	}
	var e HistoryEntry
	if err := decodeLoosely(raw, &e); err != nil {
		return HistoryEntry{}, false, fmt.Errorf("reading the history of %s: %w", promptID, err)
	}
	return e, true, nil
}

// ObjectInfo reads the declarations of all node classes, and gives a hash of the answer.
func (c *Client) ObjectInfo(ctx context.Context) (info *objectinfo.Info, hash string, err error) {
	data, err := c.Declarations(ctx)
	if err != nil {
		return nil, "", err
	}
	return ParseDeclarations(data)
}

// ParseDeclarations reads what Declarations gives, and gives its hash.
func ParseDeclarations(data []byte) (info *objectinfo.Info, hash string, err error) {
	sum := sha256.Sum256(data)
	info, err = objectinfo.Parse(data)
	return info, hex.EncodeToString(sum[:]), err
}

// Declarations is what ObjectInfo reads.
func (c *Client) Declarations(ctx context.Context) ([]byte, error) {
	res, err := c.get(ctx, "/object_info", nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := readBounded(res.Body, MaxJSON)
	if err != nil {
		return nil, fmt.Errorf("reading /object_info: %w", err)
	}
	return data, nil
}

// SystemStats is the part of /system_stats that placement and prices need.
type SystemStats struct {
	Version string
	GPUs    []string // device names as the server reports them, without memory and index
	Memory  Memory   // of the first device
}

// Memory is that of a device, in bytes; zero where the server does not tell.
type Memory struct {
	Total int64 `json:"vram_total"`
	Free  int64 `json:"vram_free"`
	Torch int64 `json:"torch_vram_total"` // what the server has taken for models and its work
}

// SystemStats reads version and devices.
func (c *Client) SystemStats(ctx context.Context) (SystemStats, error) {
	var raw struct {
		System struct {
			Version string `json:"comfyui_version"`
		} `json:"system"`
		Devices []struct {
			Name string `json:"name"`
			Type string `json:"type"`
			Memory
		} `json:"devices"`
	}
	if err := c.getJSON(ctx, "/system_stats", nil, &raw); err != nil {
		return SystemStats{}, err
	}
	s := SystemStats{Version: raw.System.Version}
	for i, d := range raw.Devices {
		s.GPUs = append(s.GPUs, gpuName(d.Name))
		if i == 0 {
			s.Memory = d.Memory
		}
	}
	return s, nil
}

// gpuName turns "cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync" into "NVIDIA GeForce RTX 4090".
func gpuName(device string) string {
	if _, rest, ok := strings.Cut(device, " "); ok && strings.Contains(device[:len(device)-len(rest)], ":") {
		device = rest
	}
	name, _, _ := strings.Cut(device, " : ")
	return strings.TrimSpace(name)
}

// Interrupt stops the prompt if it is the one that runs. It never goes out without an id, because a
// bare interrupt stops whatever runs, for whomever.
func (c *Client) Interrupt(ctx context.Context, promptID string) error {
	if promptID == "" {
		return errors.New("interrupt: no prompt id")
	}
	return c.postJSON(ctx, "/interrupt", map[string]any{"prompt_id": promptID})
}

// Delete removes the prompt from the queue while it is pending; otherwise nothing happens.
func (c *Client) Delete(ctx context.Context, promptID string) error {
	return c.postJSON(ctx, "/queue", map[string]any{"delete": []string{promptID}})
}

// Free has the server unload its models and give back the memory that it caches before its next prompt.
func (c *Client) Free(ctx context.Context) error {
	return c.postJSON(ctx, "/free", map[string]any{"unload_models": true, "free_memory": true})
}

// DeleteHistory removes a finished prompt from the history.
func (c *Client) DeleteHistory(ctx context.Context, promptID string) error {
	return c.postJSON(ctx, "/history", map[string]any{"delete": []string{promptID}})
}

// View opens a file of the server. A name that could lead out of the server's folders is refused; reading more than
// 512 MiB gives an error. The caller closes it.
func (c *Client) View(ctx context.Context, f File) (io.ReadCloser, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	res, err := c.get(ctx, "/view", url.Values{"filename": {f.Filename}, "subfolder": {f.Subfolder}, "type": {f.Type}})
	if err != nil {
		return nil, err
	}
	if pageInstead(res, f.Filename) {
		res.Body.Close()
		return nil, fmt.Errorf("%w: result %s", ErrPage, f.Filename)
	}
	if res.ContentLength > maxResultFile {
		res.Body.Close()
		return nil, fmt.Errorf("result %s has %d bytes, the limit is %d", f.Filename, res.ContentLength, int64(maxResultFile))
	}
	return &cappedBody{ReadCloser: res.Body, left: maxResultFile, name: f.Filename}, nil
}

// pageInstead tells whether a page came for a file that is none, as doors in front of servers answer.
func pageInstead(res *http.Response, name string) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind == "text/html" && !strings.HasPrefix(strings.ToLower(path.Ext(name)), ".htm")
}

// Upload stores content in the server's input folder and returns the name to use, which may differ.
func (c *Client) Upload(ctx context.Context, name string, content io.Reader) (File, error) {
	pr, pw := io.Pipe()
	form := multipart.NewWriter(pw)
	var writing sync.WaitGroup
	writing.Go(func() { pw.CloseWithError(writeUpload(form, name, content)) })
	defer writing.Wait() // content is the caller's again
	defer pr.Close()     // ends the writer when the request ended early
	res, err := c.do(ctx, http.MethodPost, "/upload/image", nil, form.FormDataContentType(), pr)
	if err != nil {
		return File{}, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return File{}, &StatusError{Method: http.MethodPost, Path: "/upload/image", Status: res.StatusCode}
	}
	var answer struct {
		Name      string `json:"name"`
		Subfolder string `json:"subfolder"`
		Type      string `json:"type"`
	}
	if err := DecodeJSON(res.Body, maxErrorBody, &answer); err != nil {
		return File{}, fmt.Errorf("reading the answer to /upload/image: %w", err)
	}
	f := File{Filename: answer.Name, Subfolder: strings.TrimSuffix(strings.ReplaceAll(answer.Subfolder, `\`, "/"), "/"), Type: answer.Type}
	return f, f.Check()
}

func writeUpload(form *multipart.Writer, name string, content io.Reader) error {
	part, err := form.CreateFormFile("image", path.Base(name))
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, content); err != nil {
		return err
	}
	return form.Close()
}

func (c *Client) get(ctx context.Context, p string, query url.Values) (*http.Response, error) {
	res, err := c.do(ctx, http.MethodGet, p, query, "", nil)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, &StatusError{Method: http.MethodGet, Path: p, Status: res.StatusCode}
	}
	return res, nil
}

func (c *Client) getJSON(ctx context.Context, p string, query url.Values, v any) error {
	res, err := c.get(ctx, p, query)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return errs.Wrap(DecodeJSON(res.Body, MaxJSON, v), "reading %s", p)
}

func (c *Client) postJSON(ctx context.Context, p string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	res, err := c.do(ctx, http.MethodPost, p, nil, "application/json", bytes.NewReader(data))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return &StatusError{Method: http.MethodPost, Path: p, Status: res.StatusCode}
	}
	return nil
}

func (c *Client) do(ctx context.Context, method, p string, query url.Values, contentType string, body io.Reader) (*http.Response, error) {
	u := c.base.JoinPath(p)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	reached := false
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached = true }}))
	res, err := c.http.Do(req)
	if err != nil && !reached {
		err = fmt.Errorf("%w: %w", ErrUnreached, err)
	}
	return res, err
}

// DecodeJSON reads one JSON value of at most limit bytes; numbers keep their digits.
func DecodeJSON(r io.Reader, limit int64, v any) error {
	data, err := readBounded(r, limit)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(v)
}

// decodeLoosely reads what fits and leaves out members of another type than expected: what custom nodes put into
// events and histories follows no rule.
func decodeLoosely(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return nil
	}
	return err
}

func readBounded(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return data, err
}

// cappedBody gives an error, not a short file, when a result exceeds the cap.
type cappedBody struct {
	io.ReadCloser
	left int64
	name string
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var probe [1]byte
		if n, err := b.ReadCloser.Read(probe[:]); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("result %s is larger than %d bytes", b.name, int64(maxResultFile))
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
