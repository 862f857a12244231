package tripo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/signalbox/signalbox/registry"
)

const (
	dialTimeout = 15 * time.Second
	maxFrame    = 1 << 20 // bytes of a task
)

// Watch follows a task over the service's socket, in which each frame is the task as Poll gets it. A frame that tells of
// something else is passed over.
func (p *Provider) Watch(ctx context.Context, t registry.Ticket, report func(registry.Progress)) error {
	conn, err := p.dial(ctx, "task/watch/"+url.PathEscape(t.ProviderID))
	if err != nil {
		return err
	}
	defer conn.CloseNow() // nothing more is wanted of it
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			return fmt.Errorf("watch a task of Tripo: %w", err)
		}
		var told struct {
			state
			Data state `json:"data"` // where the task comes in an envelope
		}
		if json.Unmarshal(frame, &told) != nil {
			continue
		}
		for _, now := range []state{told.state, told.Data} {
			if now.ID != t.ProviderID || now.Status == "" {
				continue
			}
			progress := p.progress(t, now)
			report(progress)
			if progress.State.Terminal() {
				return nil
			}
		}
	}
}

func (p *Provider) dial(ctx context.Context, path string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout) // of the handshake; the connection outlives it
	defer cancel()
	options := &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + p.cfg.Key}}, HTTPClient: p.cfg.HTTP}
	conn, _, err := websocket.Dial(ctx, strings.TrimSuffix(p.cfg.BaseURL, "/")+"/"+path, options)
	if err != nil {
		return nil, fmt.Errorf("watch a task of Tripo: %w", err)
	}
	conn.SetReadLimit(maxFrame)
	return conn, nil
}
