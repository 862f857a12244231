package tripo

import (
	"encoding/json"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// failure reads {"code", "message", "suggestion"} of a refusal.
func failure(answer upstream.Response) *registry.Error {
	var body struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(answer.Body, &body) != nil {
		return nil
	}
	return byKnownCode(body.Code)
}

// byCode is what went wrong with a task that failed.
func byCode(code int) *registry.Error {
	if known := byKnownCode(code); known != nil {
		return known
	}
	return registry.Errorf(registry.CodeProvider, "Tripo could not make the model")
}

func byKnownCode(code int) *registry.Error {
	switch code {
	case 1000, 1001:
		return &registry.Error{Code: registry.CodeProvider, Retryable: true, Message: "Tripo has a problem of its own"}
	case 1002, 1005:
		return registry.Errorf(registry.CodeUnauthorized, "Tripo does not accept our key; the operator has to look at it")
	case 1003, 1004:
		return registry.Errorf(registry.CodeInvalidInput, "Tripo did not accept the values: not every version takes all of them")
	case 2000:
		return &registry.Error{Code: registry.CodeRateLimited, Retryable: true, Message: "Tripo has too much to do at the moment"}
	case 2001:
		return registry.Errorf(registry.CodeLost, "Tripo does not know the task")
	case 2003, 2004:
		return registry.Errorf(registry.CodeInvalidInput, "Tripo can't use a picture: try another one")
	case 2006:
		return registry.Errorf(registry.CodeInvalidInput, "Tripo can't go on from this model: its task is of another kind")
	case 2008:
		return registry.Errorf(registry.CodeRefused, "Tripo does not make this model: its rules for content exclude it")
	case 2010:
		return registry.Errorf(registry.CodeUnavailable, "Tripo takes no more work on this account; the operator has to look at it")
	case 2015:
		return registry.Errorf(registry.CodeInvalidInput, "Tripo does not have this version any more: choose another one")
	}
	return nil
}
