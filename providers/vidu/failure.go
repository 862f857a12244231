package vidu

import (
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// failure reads the code of a refusal; services in between use other members for it.
func failure(answer upstream.Response) *registry.Error {
	var body struct {
		Code    any    `json:"code"` // the word, or the status again
		Reason  string `json:"reason"`
		ErrCode string `json:"err_code"`
	}
	if json.Unmarshal(answer.Body, &body) != nil {
		return nil
	}
	for _, code := range []string{body.Reason, body.ErrCode, fmt.Sprint(body.Code)} {
		if known := byKnownCode(code); known != nil {
			return known
		}
	}
	return nil
}

// byCode is what went wrong with a task that failed.
func byCode(code string) *registry.Error {
	if known := byKnownCode(code); known != nil {
		return known
	}
	return registry.Say(registry.CodeProvider, said.ServiceVideo, "service", "Vidu")
}

func byKnownCode(code string) *registry.Error {
	switch code {
	case "AuditSubmitIllegal", "TaskPromptPolicyViolation", "CreationPolicyViolation":
		return registry.Say(registry.CodeRefused, said.ServiceVideoRules, "service", "Vidu")
	case "PageSizeOutOfRange", "ImageDownloadFailure", "ImageFormatInvalid", "ImageCheckBodyJointsFailed", "ImageCheckFaceFailed", "ImageObjectsUndetected":
		return registry.Say(registry.CodeInvalidInput, said.PictureUseWhy, "service", "Vidu", "words", code)
	case "FieldLacking", "FieldUnwanted", "FieldItemCountOutOfRange", "FieldInvalid", "BadRequest":
		return registry.Say(registry.CodeInvalidInput, said.ServiceValuesWhy, "service", "Vidu", "words", code)
	case "CreditInsufficient":
		return registry.Say(registry.CodeUnavailable, said.ServiceNoMoney, "service", "Vidu")
	case "ModelUnavailable":
		return registry.Say(registry.CodeUnavailable, said.ServiceModelGone, "service", "Vidu").At("model")
	case "OperationInProcess", "QuotaExceeded", "TooManyRequests", "SystemThrottling":
		return registry.Say(registry.CodeRateLimited, said.ServiceBusyWork, "service", "Vidu").Again()
	case "TaskNotFound", "CreationNotFound":
		return registry.Say(registry.CodeLost, said.ServiceTaskUnknown, "service", "Vidu")
	case "UserCancelled", "Canceled":
		return registry.Say(registry.CodeCanceled, said.CanceledTask, "service", "Vidu")
	case "InternalServiceFailure":
		return registry.Say(registry.CodeProvider, said.ServiceProblem, "service", "Vidu").Again()
	}
	return nil
}
