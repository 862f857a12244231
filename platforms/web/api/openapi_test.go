package api

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/gallery"
	"github.com/signalbox/signalbox/webhooks"
)

// fixed reads openapi.yaml as strictly as the library can, as it is served by a house without tools.
func fixed(t *testing.T, d description) *openapi3.T {
	t.Helper()
	drawn, err := d.document(&catalog.Snapshot{}, registry.Everyone)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(drawn)
	if err != nil {
		t.Fatal(err)
	}
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(loader.Context); err != nil {
		t.Fatalf("openapi.yaml is not valid: %v", err)
	}
	if document.Extensions[toolTemplate] != nil {
		t.Errorf("%s is served", toolTemplate)
	}
	return document
}

// listOf are values as JSON has them.
func listOf[T ~string](values []T) (list []any) {
	for _, v := range values {
		list = append(list, string(v))
	}
	return list
}

type noHooks struct {
	Hooks
	HookMessages
}

func noChanges(context.Context) ([]history.Change, error) { return nil, nil }

func TestFixedDocument(t *testing.T) {
	t.Parallel()
	document := fixed(t, description{hooks: true, gallery: true, version: "7"})

	t.Run("every address of the API that is always there is described, and no other is", func(t *testing.T) {
		described := map[string]bool{}
		for path, item := range document.Paths.Map() {
			for method := range item.Operations() {
				described[method+" "+path] = true
			}
		}
		a := &API{cfg: Config{Door: &door.Door{}, Changes: noChanges, Hooks: noHooks{}, Gallery: &gallery.Gallery{}, Exports: &exports.Service{}}, catalogue: &catalogueAPI{}, starting: &starting{}, runs: &runsAPI{}, following: &following{}, account: &accountAPI{}, keys: &keysAPI{}, invitations: &invitationsAPI{}}
		for _, route := range a.Routes() {
			if route.Pattern != "GET /openapi.json" && route.Pattern != "POST /" && !described[route.Pattern] {
				t.Errorf("%s is not described", route.Pattern)
			}
			delete(described, route.Pattern)
		}
		for address := range described {
			t.Errorf("%s is described, but not served", address)
		}
	})
	t.Run("what it lists is what the program knows", func(t *testing.T) {
		schemas := document.Components.Schemas
		hook := document.Paths.Value("/api/webhooks").Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		for name, list := range map[string]struct{ told, known []any }{
			"RunStatus": {schemas["RunStatus"].Value.Enum, listOf([]runs.Status{
				runs.StatusAwaitingConfirmation, runs.StatusQueued, runs.StatusSubmitted, runs.StatusRunning,
				runs.StatusSucceeded, runs.StatusFailed, runs.StatusCanceled, runs.StatusTimedOut,
			})},
			"Envelope.error.code": {schemas["Envelope"].Value.Properties["error"].Value.Properties["code"].Value.Enum, listOf([]runs.ToolCode{
				runs.ToolNotFound, runs.ToolRequiresApproval, runs.ToolAutoRunDisabled, runs.InvalidToolInput, runs.InvalidToolOutput, runs.ToolExecutionFailed,
			})},
			"events":            {hook.Properties["events"].Value.Items.Value.Enum, listOf([]string{webhooks.EventStarted, webhooks.EventProgress, webhooks.EventFinished})},
			"answerRun.action":  {document.Paths.Value("/api/runs/{id}/answer").Post.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties["action"].Value.Enum, listOf([]registry.Action{registry.ActionAccept, registry.ActionDecline, registry.ActionCancel})},
			"idempotencyKey":    {[]any{*document.Components.Parameters["idempotencyKey"].Value.Schema.Value.MaxLength}, []any{uint64(maxIdempotencyKey)}},
			"NewInvitation max": {[]any{*schemas["NewInvitation"].Value.Properties["forDays"].Value.Max}, []any{float64(maxInvitationDays)}},
			"NewInvitation":     {[]any{schemas["NewInvitation"].Value.Properties["forDays"].Value.Default}, []any{float64(invitationDays)}},
			"X-Quote":           {[]any{document.Components.Parameters["quote"].Value.Name}, []any{request.QuoteHeader}},
		} {
			if !slices.Equal(list.told, list.known) {
				t.Errorf("%s: openapi.yaml says %v, the program %v", name, list.told, list.known)
			}
		}
	})
	t.Run("without endpoints for programs their operations are not described", func(t *testing.T) {
		if fixed(t, description{}).Paths.Value("/api/webhooks/{id}/test") != nil {
			t.Error("they are")
		}
	})
}
