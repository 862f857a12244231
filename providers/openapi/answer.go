package openapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

const (
	lookEvery = 3 * time.Second        // between two looks at what a service works on, where it says nothing
	lookSoon  = 200 * time.Millisecond // the shortest that its word for it is heeded
	lookLate  = 30 * time.Second       // the longest
	maxMoves  = 10                     // how often an answer may send somewhere else
)

// ask makes a call's request and goes where its answer sends, within the service: to what is worked on (202 with a Location), which is
// looked at until it is done, and to what came of it (303). An answer that leads out of the service is the result itself. What fails
// while it is looked at for a reason that may pass is looked at again: a failure that may be repeated would have the call begun anew.
func (t *Tools) ask(ctx context.Context, s spec, call registry.Call) (upstream.Response, error) {
	var header http.Header
	var at *url.URL
	answer, err := t.opened(ctx, s, func() (upstream.Request, error) {
		request, err := s.request(ctx, call)
		header = request.Header
		at, _ = url.Parse(s.BaseURL + request.Path)
		return request, err
	})
	begun := false
	for moves := 0; moves < maxMoves && at != nil; {
		var next *url.URL
		if to := answer.Header.Get("Location"); to != "" {
			next, _ = at.Parse(to)
		}
		inside := next != nil && next.Scheme == at.Scheme && next.Host == at.Host
		switch {
		case err != nil && begun && registry.AsError(err).Retryable && ctx.Err() == nil,
			err == nil && begun && answer.Status == http.StatusAccepted && next == nil:
			next = at
		case err == nil && answer.Status == http.StatusAccepted && inside:
			if begun = true; *next != *at {
				moves++
			}
		case answer.Status == http.StatusSeeOther && inside:
			begun = true
			moves++
		default:
			return answer, err
		}
		if answer.Status != http.StatusSeeOther {
			if late := clock.Sleep(ctx, until(answer.Header.Get("Retry-After"))); late != nil {
				return answer, late
			}
		}
		at, s.BaseURL = next, next.Scheme+"://"+next.Host
		answer, err = t.opened(ctx, s, func() (upstream.Request, error) {
			return upstream.Request{Method: http.MethodGet, Path: at.RequestURI(), Query: url.Values{}, Header: header}, nil
		})
	}
	return answer, err
}

// opened makes a request, and once more where a token that opens the service was taken back before its time.
func (t *Tools) opened(ctx context.Context, s spec, request func() (upstream.Request, error)) (answer upstream.Response, err error) {
	for again := false; ; again = true {
		r, err := request()
		if err != nil {
			return upstream.Response{}, err
		}
		if answer, err = t.once(ctx, s, r); again || answer.Status != http.StatusUnauthorized || !t.clients.forget(s) {
			return answer, err
		}
	}
}

// once makes a request with what opens the service.
func (t *Tools) once(ctx context.Context, s spec, request upstream.Request) (upstream.Response, error) {
	request.Header = request.Header.Clone()
	client, err := t.clients.open(ctx, s, &request)
	if err != nil {
		return upstream.Response{}, err
	}
	var events [][]byte
	if s.Stream {
		request.Events = func(e upstream.Event) error { events = append(events, e.Data); return nil }
	}
	answer, err := client.Do(ctx, request)
	if len(events) > 0 {
		answer.Body = bytes.Join(events, []byte("\n"))
	}
	return answer, err
}

// until is the time before the next look, as long as the service asks for within reason.
func until(retryAfter string) time.Duration {
	if seconds, err := strconv.Atoi(retryAfter); err == nil && seconds >= 0 {
		return min(max(time.Duration(seconds)*time.Second, lookSoon), lookLate)
	}
	return lookEvery
}

// output makes the result of an answer: a file as one, everything else as text.
func output(tool registry.Tool, answer upstream.Response) registry.Output {
	out := registry.Output{Name: "result"}
	if len(tool.OutputSchema) > 0 {
		out.Name = tool.OutputSchema[0].Name
	}
	media, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	if media == "" || media == "application/octet-stream" {
		if seen, _, _ := strings.Cut(http.DetectContentType(answer.Body), ";"); media == "" || outputType(seen) != "text" {
			media = seen
		}
	}
	if len(answer.Body) == 0 {
		media = ""
	}
	if out.Type = outputType(media); out.Type == "text" {
		out.Text = cmp.Or(readable(answer.Body), answer.Header.Get("Location"), "Done.")
		return out
	}
	out.Info = registry.MediaInfo{MIMEType: media, Bytes: int64(len(answer.Body)), Name: fileName(answer.Header.Get("Content-Disposition"))}
	out.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(answer.Body)), nil }
	return out
}

// fileName is the name that an answer gives its file, without folders.
func fileName(disposition string) string {
	_, params, err := mime.ParseMediaType(disposition)
	if err != nil || params["filename"] == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))
}

// texts finds media types whose content people can read.
var texts = regexp.MustCompile(`^$|^text/|\*|(^|[/+.-])(json|jsonl|json-seq|xml|yaml|toml|csv|sql|graphql|(java|ecma)script|x-www-form-urlencoded)$`)

// outputType is the type of an output for a media type.
func outputType(media string) string {
	media, _, _ = strings.Cut(media, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch kind, _, _ := strings.Cut(media, "/"); {
	case kind == "image", kind == "video", kind == "audio":
		return kind
	case texts.MatchString(media):
		return "text"
	}
	return "file"
}

// readable indents JSON and leaves other texts as they are.
func readable(data []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err == nil && b.Len() > 0 {
		return b.String()
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(data), ""))
}
