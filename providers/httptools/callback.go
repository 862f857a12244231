package httptools

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/registry"
)

// callback says by which scheme of internal/signature a service signs, where, and with which secret.
type callback struct {
	Scheme string `json:"scheme"`           // standard, sha256, v0 or v1
	Header string `json:"header,omitempty"` // that has the signature; Standard Webhooks have their own
	Secret string `json:"secret"`           // such as ${CLOUDS_WEBHOOK_SECRET}
}

// The schemes: Standard Webhooks, an HMAC of the body, and HMACs of time and body by the versions of ElevenLabs and Stripe.
const (
	schemeStandard = "standard"
	schemeSHA256   = "sha256"
	schemeV0       = "v0"
	schemeV1       = "v1"
)

// CheckCallback checks the signature of what a service called back about a run of a tool, where the tool's file says how it
// signs. An error means: not authentic. It does not look at the address, whose token is checked anyway.
func (j Jobs) CheckCallback(ctx context.Context, tool registry.Tool, r registry.CallbackRequest) error {
	s, err := j.tools.specs.Of(ctx, refOf(registry.Call{Tool: tool}))
	if err != nil || s.Callback == nil {
		return err
	}
	secret, err := fillSecrets(s.Callback.Secret, variable, j.tools.secretOf)
	if err != nil {
		return err
	}
	return s.Callback.check(r, secret)
}

func (c callback) check(r registry.CallbackRequest, secret string) error {
	secrets := [][]byte{[]byte(secret)}
	switch c.Scheme {
	case schemeSHA256:
		return signature.SHA256(r.Header.Get(c.Header), r.Body, secrets)
	case schemeV0:
		return signature.Stamped(r.Header.Get(c.Header), c.Scheme, r.Body, r.At, signature.LongTolerance, secrets)
	case schemeV1:
		return signature.Stamped(r.Header.Get(c.Header), c.Scheme, r.Body, r.At, signature.Tolerance, secrets)
	case schemeStandard:
		key, err := signature.ParseSecret(secret)
		if err != nil {
			return err
		}
		_, err = signature.Standard(r.Header, r.Body, r.At, [][]byte{key})
		return err
	}
	return fmt.Errorf("the scheme %q is not known", c.Scheme)
}

// checkScheme says what is wrong with the description of a signature.
func (c callback) checkScheme() error {
	switch c.Scheme {
	case schemeStandard:
		if c.Header != "" {
			return errors.New("header: Standard Webhooks have headers of their own, leave it out")
		}
	case schemeSHA256, schemeV0, schemeV1:
		if c.Header == "" {
			return errors.New("header: name the one that has the signature")
		}
	default:
		return fmt.Errorf("scheme: is %q; expected standard, sha256, v0 or v1", c.Scheme)
	}
	if len(variable.FindAllString(c.Secret, -1)) != 1 {
		return errors.New("secret: name one of the environment, such as ${CLOUDS_WEBHOOK_SECRET}")
	}
	return nil
}
