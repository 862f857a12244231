package upstream

import (
	"context"
	"io"
	"net/http"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// MaxFile is the largest result that is fetched, in bytes.
const MaxFile = 256 << 20

// File is a result behind an address that a service gave. guard is a client of internal/outbound: the
// address is the service's word, and must not lead inside.
func File(guard *http.Client, name, kind, address string, info registry.MediaInfo) registry.Output {
	return registry.Output{Name: name, Type: kind, Info: info, Open: func(ctx context.Context) (io.ReadCloser, error) {
		body, _, err := outbound.Get(ctx, guard, address, MaxFile)
		if err != nil {
			return nil, registry.Say(registry.CodeProvider, said.ResultFetch).Again().Because(err)
		}
		return body, nil
	}}
}
