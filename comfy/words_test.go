package comfy

import (
	"net/http"
	"testing"

	"github.com/signalbox/signalbox/comfy/api"
)

func TestRefusalWords(t *testing.T) {
	t.Parallel()
	detail := func(kind, input string) api.ErrorDetail {
		return api.ErrorDetail{Type: kind, Message: "secret /srv/x", Details: "secret", ExtraInfo: map[string]any{"input_name": input, "received_value": "secret"}}
	}
	e := &api.PromptError{Status: http.StatusBadRequest, NodeErrors: map[string]api.NodeError{
		"1": {ClassType: "A", Errors: []api.ErrorDetail{detail("required_input_missing", "image"), detail("value_smaller_than_min", "width")}},
		"2": {ClassType: "B", Errors: []api.ErrorDetail{detail("value_bigger_than_max", "height"), detail("return_type_mismatch", "x")}},
		"3": {ClassType: "B", Errors: []api.ErrorDetail{detail("value_bigger_than_max", "height")}},
	}}
	if got := refusalWords(e); got != "A.image is missing, A.width is too small, B.height is too large, B: return type mismatch" {
		t.Error(got)
	}
	if got := refusalWords(&api.PromptError{}); got != "it does not say why" {
		t.Error(got)
	}
}
