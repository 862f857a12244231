package request

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// fetchTime bounds how long a request waits for the files behind its addresses.
const fetchTime = 30 * time.Second

// Settle makes sure that the files which a request names are there before a run is taken on: a reference
// must be known and the sender's, and what is behind an address is fetched and stored. So anyone who asks hears of a bad one at
// once, and the run does not change when the address's file does. What a model names stays an address: where it may go is decided with the run.
func (d Reader) Settle(r *http.Request, a users.Account, t registry.Tool, v Values) error {
	ctx, cancel := context.WithTimeout(r.Context(), fetchTime)
	defer cancel()
	for name, value := range v[runs.FromArgument] {
		f, known := t.InputSchema.Get(name)
		if !known || !f.Type.IsMedia() {
			continue
		}
		settled, err := d.settleValue(ctx, a, f, value, ByModel(r))
		if err == nil {
			err = d.Media.OwnFiles(ctx, a.ID, t, f, settled)
		}
		if err != nil {
			return err
		}
		v.Set(runs.FromArgument, name, settled)
	}
	return nil
}

func (d Reader) settleValue(ctx context.Context, a users.Account, f registry.InputField, value any, byModel bool) (any, error) {
	switch v := value.(type) {
	case string:
		return d.settleRef(ctx, a, f, strings.TrimSpace(v), byModel)
	case []any:
		if len(v) > registry.MaxListLength {
			return v, nil // Bind refuses it
		}
		out := make([]any, len(v))
		for i, item := range v {
			settled, err := d.settleValue(ctx, a, f, item, byModel)
			if err != nil {
				return nil, err
			}
			out[i] = settled
		}
		return out, nil
	}
	return value, nil // Bind refuses it
}

func (d Reader) settleRef(ctx context.Context, a users.Account, f registry.InputField, ref string, byModel bool) (any, error) {
	address, isAddress := webAddress(ref)
	if !isAddress && !registry.IsMediaRef(ref) {
		return ref, nil // Bind refuses it
	}
	if isAddress && byModel {
		return ref, nil
	}
	content, info, err := d.Media.OpenMedia(ctx, ref)
	if err == nil {
		defer content.Close()
	}
	switch {
	case err != nil && isAddress:
		return nil, badMedia(f, err, "the file at "+address.Host+" can't be fetched from here: give a public address that answers with the file, or upload it")
	case err != nil:
		return nil, registry.Say(registry.CodeInvalidInput, said.FileForeign).At(f.Name).Because(err) // as of files of others: nobody learns which there are
	case !isAddress:
		return ref, nil
	}
	stored, err := d.storeFile(ctx, a, f, content, info.Name)
	if err != nil {
		return nil, badMedia(f, err, registry.AsError(err).Message)
	}
	return stored, nil
}

func badMedia(f registry.InputField, cause error, why string) error {
	e := registry.Errorf(registry.CodeInvalidInput, "%s: %s", f.Label(), why)
	e.Field, e.Cause = f.Name, cause
	return e
}

// webAddress reads an http or https address without a user name.
func webAddress(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	return u, err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}
