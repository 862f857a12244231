package siteapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Root begins all addresses.
const Root = "/api/site"

// Bounds of a request, in bytes.
const (
	maxBody = 2 << 20
	maxFile = 40 << 20
)

// Site is what the addresses need of a site. Anyone who may not do something gets a *registry.Error with CodeUnauthorized.
type Site interface {
	// Use carries out a tool for an account and gives its answer.
	Use(ctx context.Context, account, tool string, inputs map[string]any, media registry.MediaOpener) (any, error)
	// UseAt is Use for somebody who has seen a version of what they change. When there is another one by now nothing is changed, and the
	// error is at the field "version".
	UseAt(ctx context.Context, account, tool string, inputs map[string]any, media registry.MediaOpener, version string) (any, error)
	// Sites lists the sites in which an account has a role, whichever this one is.
	Sites(ctx context.Context, account string) (any, error)
	Navigations(ctx context.Context, account string) (any, error)
	Collections(ctx context.Context, account string) (any, error)
	OrderSections(ctx context.Context, account, page string, ids []string) error
	Members(ctx context.Context, account string) (any, error)
	SetRole(ctx context.Context, by, account, role string) error
	Describe(ctx context.Context, account, title, description, language string) (any, error)
	Bin(ctx context.Context, account string) (any, error)
	Restore(ctx context.Context, account string, id int64) error
	History(ctx context.Context, account, kind, id string) (any, error)
	Revert(ctx context.Context, account string, revision int64) error
}

// Config wires a Handler; all but Logger are required.
type Config struct {
	// Site gives the site with a slug. What it does fails with CodeLost where there is none.
	// operator says whether the caller came as one, who owns all sites: keys with a spending limit and those of agents do not.
	Site func(slug string, operator bool) Site
	// Media opens stored files, Put stores one of an account.
	Media registry.MediaOpener
	Put   func(ctx context.Context, account string, content io.Reader, name string) (registry.Media, error)
	// Caller is who sent the request of ctx.
	Caller func(ctx context.Context) (users.Account, bool)
	Logger *slog.Logger
}

type server struct{ Config }

// request is one call of an address.
type request struct {
	*http.Request
	site    Site
	account string
	body    map[string]any
}

// siteParameter is the part of a query that names a site by its slug.
const siteParameter = "site"

// house is the slug of the site that is meant where a request names none.
const house = "house"

// status is an answer with a status of its own.
type status struct {
	code int
	body any
}

// read takes the body: a JSON object, or a file.
func (s server) read(w http.ResponseWriter, in *request) error {
	in.body = map[string]any{}
	if in.Method == http.MethodGet || in.Method == http.MethodDelete {
		return nil
	}
	if kind, _, _ := mime.ParseMediaType(in.Header.Get("Content-Type")); kind == "multipart/form-data" {
		return s.readFile(w, in)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, in.Body, maxBody))
	if err != nil {
		return registry.Errorf(registry.CodeInvalidInput, "the body can't be read, or has more than %d bytes", maxBody)
	}
	if len(strings.TrimSpace(string(raw))) == 0 {
		return nil
	}
	if err := decimal.Unmarshal(raw, &in.body); err != nil || in.body == nil {
		return registry.Errorf(registry.CodeInvalidInput, "the body is no JSON object: expected the inputs of the tool, by their names")
	}
	return nil
}

// readFile stores the file of a form as the input buffer; the form's texts are further inputs.
func (s server) readFile(w http.ResponseWriter, in *request) error {
	in.Body = http.MaxBytesReader(w, in.Body, maxFile)
	parts, err := in.MultipartReader()
	for err == nil {
		part, next := parts.NextPart()
		if errors.Is(next, io.EOF) {
			break
		}
		if err = next; err != nil {
			break
		}
		if name := part.FileName(); name != "" {
			in.body["buffer"], err = s.Put(in.Context(), in.account, part, name)
			if in.body["filename"] == nil {
				in.body["filename"] = name
			}
			continue
		}
		var text []byte
		text, err = io.ReadAll(io.LimitReader(part, maxBody))
		in.body[part.FormName()] = string(text)
	}
	var typed *registry.Error
	if err != nil && !errors.As(err, &typed) {
		err = &registry.Error{Code: registry.CodeInvalidInput, Message: "the form can't be read, or has more than " + strconv.Itoa(maxFile) + " bytes", Cause: err}
	}
	return err
}

// use calls a tool with what the body says and more.
func (s server) use(in request, tool string, more map[string]any) (any, error) {
	maps.Copy(in.body, more)
	seen := strings.Trim(in.Header.Get("If-Match"), `"`)
	answer, err := in.site.UseAt(in.Context(), in.account, tool, in.body, s.Media, seen)
	var refused *registry.Error
	if seen != "" && errors.As(err, &refused) && refused.Field == "version" {
		return nil, &problem.Problem{Status: http.StatusPreconditionFailed, Code: "changed", Detail: refused.Message, Field: refused.Field, Cause: refused}
	}
	if err != nil {
		return nil, err
	}
	if plain(answer)["success"] == false { // a report on why nothing was deleted
		return status{http.StatusConflict, answer}, nil
	}
	return answer, nil
}

var errNothing = registry.Errorf(registry.CodeLost, "there is no such thing in this site")

// plain is an answer as its JSON says it.
func plain(answer any) map[string]any {
	raw, err := json.Marshal(answer)
	var told map[string]any
	if err == nil && json.Unmarshal(raw, &told) == nil {
		return told
	}
	return nil
}

// page is the id of the page that the path names by its id or slug.
func (s server) page(in request) (string, error) {
	key := in.PathValue("page")
	if _, err := uuid.Parse(key); err == nil {
		return key, nil
	}
	answer, err := in.site.Use(in.Context(), in.account, "getPage", map[string]any{"slug": key}, nil)
	if err != nil {
		return "", err
	}
	items, _ := plain(answer)["items"].([]any)
	if len(items) == 0 {
		return "", errNothing
	}
	page, _ := items[0].(map[string]any)
	id, _ := page["id"].(string)
	return id, nil
}

// query gives the parameters that an address takes: flags say yes or no, texts say more.
func query(in request, flags, texts []string) map[string]any {
	inputs := map[string]any{}
	q := in.URL.Query()
	for _, name := range flags {
		if q.Has(name) {
			inputs[name] = q.Get(name) == "true" || q.Get(name) == "1" || q.Get(name) == ""
		}
	}
	for _, name := range texts {
		if q.Has(name) {
			inputs[name] = q.Get(name)
		}
	}
	return inputs
}
