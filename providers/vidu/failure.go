package vidu

import (
	"encoding/json"
	"fmt"

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
	return registry.Errorf(registry.CodeProvider, "Vidu could not make the video")
}

func byKnownCode(code string) *registry.Error {
	switch code {
	case "AuditSubmitIllegal", "TaskPromptPolicyViolation", "CreationPolicyViolation":
		return registry.Errorf(registry.CodeRefused, "Vidu does not make this video: its rules for content exclude it")
	case "PageSizeOutOfRange", "ImageDownloadFailure", "ImageFormatInvalid", "ImageCheckBodyJointsFailed", "ImageCheckFaceFailed", "ImageObjectsUndetected":
		return registry.Errorf(registry.CodeInvalidInput, "Vidu can't use a picture (%s): try another one", code)
	case "FieldLacking", "FieldUnwanted", "FieldItemCountOutOfRange", "FieldInvalid", "BadRequest":
		return registry.Errorf(registry.CodeInvalidInput, "Vidu did not accept the values (%s)", code)
	case "CreditInsufficient":
		return registry.Errorf(registry.CodeUnavailable, "Vidu takes no more work on this account; the operator has to look at it")
	case "ModelUnavailable":
		return &registry.Error{Code: registry.CodeUnavailable, Field: "model", Message: "Vidu does not have this model at the moment: choose another one"}
	case "OperationInProcess", "QuotaExceeded", "TooManyRequests", "SystemThrottling":
		return &registry.Error{Code: registry.CodeRateLimited, Retryable: true, Message: "Vidu has too much to do at the moment"}
	case "TaskNotFound", "CreationNotFound":
		return registry.Errorf(registry.CodeLost, "Vidu does not know the task")
	case "UserCancelled", "Canceled":
		return registry.Errorf(registry.CodeCanceled, "the task was cancelled at Vidu")
	case "InternalServiceFailure":
		return &registry.Error{Code: registry.CodeProvider, Retryable: true, Message: "Vidu has a problem of its own"}
	}
	return nil
}
