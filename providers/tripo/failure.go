package tripo

import (
	"encoding/json"

	"github.com/signalbox/signalbox/internal/said"
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
	return registry.Say(registry.CodeProvider, said.ModelMake, "service", "Tripo")
}

func byKnownCode(code int) *registry.Error {
	switch code {
	case 1000, 1001:
		return registry.Say(registry.CodeProvider, said.ServiceProblem, "service", "Tripo").Again()
	case 1002, 1005:
		return registry.Say(registry.CodeUnauthorized, said.KeyRefused, "service", "Tripo")
	case 1003, 1004:
		return registry.Say(registry.CodeInvalidInput, said.ServiceValuesSome, "service", "Tripo")
	case 2000:
		return registry.Say(registry.CodeRateLimited, said.ServiceBusyWork, "service", "Tripo").Again()
	case 2001:
		return registry.Say(registry.CodeLost, said.ServiceTaskUnknown, "service", "Tripo")
	case 2003, 2004:
		return registry.Say(registry.CodeInvalidInput, said.PictureUse, "service", "Tripo")
	case 2006:
		return registry.Say(registry.CodeInvalidInput, said.ServiceModelKind, "service", "Tripo")
	case 2008:
		return registry.Say(registry.CodeRefused, said.ServiceModelRules, "service", "Tripo")
	case 2010:
		return registry.Say(registry.CodeUnavailable, said.ServiceNoMoney, "service", "Tripo")
	case 2015:
		return registry.Say(registry.CodeInvalidInput, said.ServiceVersion, "service", "Tripo")
	}
	return nil
}
