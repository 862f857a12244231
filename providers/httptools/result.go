package httptools

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/strategy"
)

// inHTTP is the member of an answer that stands for its status and headers: "$http.status", "$http.headers.retry-after".
const inHTTP = "$http"

// answer is what a service said: JSON, or a file.
type answer struct {
	doc    any
	file   []byte
	kind   string // of the file, a MIME type
	header http.Header
}

// readAnswer reads an answer. One that is neither JSON nor a file is an error.
func readAnswer(res upstream.Response) (answer, error) {
	a := answer{kind: res.Header.Get("Content-Type"), header: res.Header}
	if isFile(a.kind) {
		a.file, a.doc = res.Body, map[string]any{}
	} else {
		var err error
		if a.doc, err = decode(res.Body); err != nil {
			return a, registry.Say(registry.CodeProvider, said.BadCallback).Because(err)
		}
	}
	if object, ok := a.doc.(map[string]any); ok {
		headers := map[string]any{}
		for name, values := range res.Header {
			headers[strings.ToLower(name)] = strings.Join(values, ", ")
		}
		object[inHTTP] = map[string]any{"status": json.Number(strconv.Itoa(res.Status)), "headers": headers}
	}
	return a, nil
}

// bare is the answer without what was added to it.
func (a answer) bare() any {
	if object, ok := a.doc.(map[string]any); ok {
		object = maps.Clone(object)
		delete(object, inHTTP)
		return object
	}
	return a.doc
}

// isFile reports whether an answer of this type is the file itself.
func isFile(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, "/")
	return kind == "image" || kind == "video" || kind == "audio" || kind == "model" || strings.HasPrefix(contentType, "application/octet-stream")
}

func fileOf(out registry.OutputField, kind string, data []byte) registry.Output {
	return registry.Output{
		Name: out.Name, Type: out.Type, Info: registry.MediaInfo{MIMEType: kind, Bytes: int64(len(data))},
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}
}

// finished reads the result of a run that succeeded: out of the answer that said so, or of another that is asked for.
func (t *Tools) finished(ctx context.Context, o order, a answer, reading strategy.Reading) (*registry.Result, error) {
	docs := []any{a.doc}
	result := reading.Result
	if o.spec.Result != nil {
		sc := o.scope.with("polled", a.doc)
		res, err := t.send(ctx, o.spec, *o.spec.Result, upstream.Request{Method: http.MethodGet, Repeatable: true, Words: o.strategy.Words}, sc)
		if err != nil {
			return nil, err
		}
		if a, err = readAnswer(res); err != nil {
			return nil, registry.AsError(err).Again() // it is no word about the run
		}
		docs = append(docs, a.doc)
		if bad, yes := o.strategy.Failed(a.doc); yes {
			return nil, failed(o.name, bad)
		}
		if result, err = o.strategy.ResultOf(a.doc); err != nil && a.file == nil {
			return nil, err
		}
	}
	if object, ok := result.(map[string]any); ok && object[inHTTP] != nil {
		result = a.bare()
	}
	var outputs []registry.Output
	var err error
	if out := o.outputs[0]; a.file != nil && out.Type != "text" {
		outputs = []registry.Output{fileOf(out, a.kind, a.file)}
	} else if outputs, err = t.outputsOf(o.spec, o.outputs, result); err != nil {
		return nil, err
	}
	usage := registry.Usage{RunTime: reading.Duration, CostUSD: o.spec.cost(o.scope, reading, len(outputs), docs...)}
	return &registry.Result{Outputs: outputs, Usage: usage}, nil
}

// failed is the error of a run that the service says has failed.
func failed(name string, r strategy.Reading) *registry.Error {
	switch {
	case r.Means == registry.MeansBusy:
		return registry.Say(registry.CodeRateLimited, said.ServiceBusy, "service", name).Again()
	case r.Means == registry.MeansRefused && r.Error == "":
		return registry.Say(registry.CodeRefused, said.PictureRules, "service", name)
	case r.Means == registry.MeansRefused:
		return registry.Say(registry.CodeRefused, said.ServiceFailedWhy, "service", name, "words", fmt.Sprintf("%.200s", r.Error))
	case r.Error != "":
		return registry.Say(registry.CodeProvider, said.ServiceFailedWhy, "service", name, "words", fmt.Sprintf("%.200s", r.Error))
	}
	return registry.Say(registry.CodeProvider, said.ServiceFailed, "service", name)
}

// outputsOf are a result's parts: one text or address, a list of them, or an object by the outputs' names.
func (t *Tools) outputsOf(s spec, schema registry.OutputSchema, result any) ([]registry.Output, error) {
	if named, ok := result.(map[string]any); ok {
		var list []registry.Output
		for _, out := range schema {
			if part, there := named[out.Name]; there {
				more, err := t.outputsOf(s, registry.OutputSchema{out}, part)
				if err != nil {
					return nil, err
				}
				list = append(list, more...)
			}
		}
		if len(list) > 0 {
			return list, nil
		}
	}
	out := schema[0]
	if parts, ok := result.([]any); ok && out.Type != "text" {
		var list []registry.Output
		for _, part := range parts {
			more, err := t.outputsOf(s, schema[:1], part)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
		return list, nil
	}
	if out.Type == "text" {
		return []registry.Output{{Name: out.Name, Type: "text", Text: textOf(result)}}, nil
	}
	one, err := t.fileAt(s, out, result)
	return []registry.Output{one}, err
}

func textOf(result any) string {
	if s, ok := result.(string); ok {
		return s
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return fmt.Sprint(result)
	}
	return string(text)
}

// membersOf says of an object which of its members resultPath can name.
func membersOf(result any) string {
	object, ok := result.(map[string]any)
	if !ok {
		return ""
	}
	names := slices.Sorted(maps.Keys(object))
	return fmt.Sprintf(` but an object; let resultPath go on to one of its members (%.120s), through a list of them with "*"`, strings.Join(names, ", "))
}

// fileAt is the file that a result names: by an address, as a data URI, in base64, or as the spec says.
func (t *Tools) fileAt(s spec, out registry.OutputField, result any) (registry.Output, error) {
	text, ok := result.(string)
	if !ok || text == "" {
		return registry.Output{}, registry.Say(registry.CodeBadOutput, said.ResultAddressWords, "name", out.Name, "words", membersOf(result))
	}
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		if s.ResultsNeedKey {
			return t.lockedFile(s, out, text)
		}
		return upstream.File(t.cfg.Guard, out.Name, out.Type, text, registry.MediaInfo{}), nil
	}
	if s.ResultEncoding == "hex" {
		raw, err := hex.DecodeString(text)
		if err != nil {
			return registry.Output{}, registry.Say(registry.CodeBadOutput, said.ResultEither, "name", out.Name)
		}
		return fileOf(out, "", raw), nil
	}
	head, data, isURI := strings.Cut(text, ";base64,")
	if !isURI {
		head, data = "", text
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return registry.Output{}, registry.Say(registry.CodeBadOutput, said.ResultEither, "name", out.Name)
	}
	return fileOf(out, strings.TrimPrefix(head, "data:"), raw), nil
}

// lockedFile is a file that is fetched with the account's key. The key does not follow a redirect, and goes to no host that is not listed.
func (t *Tools) lockedFile(s spec, out registry.OutputField, text string) (registry.Output, error) {
	address, err := url.Parse(text)
	if err != nil {
		return registry.Output{}, registry.Say(registry.CodeBadOutput, said.ResultEither, "name", out.Name)
	}
	there, err := t.account(s.at(address))
	if err != nil {
		return registry.Output{}, err
	}
	locked := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if t.cfg.Guard != nil {
		locked.Transport, locked.Timeout = t.cfg.Guard.Transport, t.cfg.Guard.Timeout
	}
	open := func(ctx context.Context) (io.ReadCloser, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, text, nil)
		if err != nil {
			return nil, err
		}
		there.authorize(req)
		res, err := locked.Do(req)
		if err != nil {
			return nil, registry.Say(registry.CodeProvider, said.ResultFetch).Again().Because(err)
		}
		if to, err := res.Location(); err == nil && res.StatusCode/100 == 3 {
			res.Body.Close()
			return upstream.File(t.cfg.Guard, out.Name, out.Type, to.String(), registry.MediaInfo{}).Open(ctx)
		}
		if res.StatusCode != http.StatusOK {
			res.Body.Close()
			return nil, registry.Say(registry.CodeProvider, said.ResultFetch).Again().Because(fmt.Errorf("%s answered %d", address.Host, res.StatusCode))
		}
		return http.MaxBytesReader(nil, res.Body, upstream.MaxFile), nil
	}
	return registry.Output{Name: out.Name, Type: out.Type, Open: open}, nil
}

// retryAfter is how long a service wants to be left alone by an answer that is none of trouble, two minutes at most.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseFloat(h.Get("Retry-After"), 64)
	if err != nil || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, 120) * float64(time.Second))
}
