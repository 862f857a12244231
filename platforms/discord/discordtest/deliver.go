package discordtest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// deliver sends an interaction to the bot: to the endpoint where there is one, else over the gateway. It
// needs s.mu.
func (s *Server) deliver(i *Interaction) {
	if s.endpoint != "" {
		url, body := s.endpoint, i.wire()
		s.work.Go(func() {
			s.postInteraction(url, i, body)
		})
		return
	}
	guild := ""
	if g := i.Channel.guild; g != nil && g.installed {
		guild = g.id
	}
	for _, x := range s.gateway.sessions {
		if x.shard.owns(guild) {
			x.send("INTERACTION_CREATE", i.wire())
		}
	}
	s.signal()
}

// UseEndpoint makes interactions go to an HTTP endpoint instead of the gateway. Like the real service it
// first sends a PING and requests with bad signatures; the error tells what the endpoint did wrong. "" goes
// back to the gateway.
func (s *Server) UseEndpoint(ctx context.Context, url string) error {
	if url != "" {
		if err := s.Probe(ctx, url); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint = url
	return nil
}

// Probe checks that an endpoint answers a PING and refuses what is not signed well.
func (s *Server) Probe(ctx context.Context, url string) error {
	ping := []byte(`{"id":"1","application_id":"` + s.ApplicationID + `","type":1,"token":"ping","version":1}`)
	status, header, body, err := s.submit(ctx, url, ping, s.sign)
	var answer struct{ Type int }
	switch {
	case err != nil:
		return fmt.Errorf("PING to %s: %w", url, err)
	case status != http.StatusOK || json.Unmarshal(body, &answer) != nil || answer.Type != AnswerPong:
		return fmt.Errorf("PING to %s: expected 200 and {\"type\":1}, got %d and %q", url, status, body)
	case header.Get("Content-Type") == "":
		return fmt.Errorf("PING to %s: the answer has no Content-Type", url)
	}
	for name, sign := range s.badSigners() {
		status, _, _, err := s.submit(ctx, url, ping, sign)
		if err != nil {
			return fmt.Errorf("a request with %s to %s: %w", name, url, err)
		}
		if status != http.StatusUnauthorized {
			return fmt.Errorf("a request with %s to %s: expected 401, got %d", name, url, status)
		}
	}
	return nil
}

// signer gives the two headers of a signed request.
type signer func(body []byte) (signature, timestamp string)

func (s *Server) sign(body []byte) (signature, timestamp string) { return s.signAt(body, s.now()) }

func (s *Server) signAt(body []byte, at time.Time) (signature, timestamp string) {
	timestamp = strconv.FormatInt(at.Unix(), 10)
	return hex.EncodeToString(ed25519.Sign(s.key, append([]byte(timestamp), body...))), timestamp
}

// badSigners are the ways of signing that an endpoint must refuse.
func (s *Server) badSigners() map[string]signer {
	return map[string]signer{
		"a signature of something else": func(body []byte) (string, string) {
			signature, timestamp := s.sign(append([]byte("x"), body...))
			return signature, timestamp
		},
		"another timestamp than signed": func(body []byte) (string, string) {
			signature, timestamp := s.sign(body)
			return signature, timestamp + "0"
		},
		"a signature of long ago":    func(body []byte) (string, string) { return s.signAt(body, s.now().Add(-10*time.Minute)) },
		"no signature at all":        func([]byte) (string, string) { return "", "" },
		"a signature that is no hex": func([]byte) (string, string) { return "zz", "1" },
	}
}

// submit sends one request to an endpoint.
func (s *Server) submit(ctx context.Context, url string, body []byte, sign signer) (int, http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Discord-Interactions/1.0 (+https://discord.com)")
	if signature, timestamp := sign(body); signature != "" {
		req.Header.Set("X-Signature-Ed25519", signature)
		req.Header.Set("X-Signature-Timestamp", timestamp)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxRequest))
	return resp.StatusCode, resp.Header, data, err
}

// postInteraction delivers an interaction to the endpoint and takes an answer in the response's body.
func (s *Server) postInteraction(url string, i *Interaction, wire map[string]any) {
	body, err := json.Marshal(wire)
	if err != nil {
		s.t.Errorf("discordtest: %v", err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Patience)
	defer cancel()
	go func() { // a closing server waits for nobody
		select {
		case <-s.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	status, header, answer, err := s.submit(ctx, url, body, s.sign)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.signal()
	switch {
	case err != nil:
		i.failure = fmt.Sprintf("the endpoint could not be reached: %v", err)
	case status == http.StatusAccepted || status == http.StatusNoContent:
	case status != http.StatusOK:
		i.failure = fmt.Sprintf("the endpoint answered %d: %s", status, answer)
	default:
		s.takeBody(i, header, answer)
	}
}

// takeBody takes the answer that came as the body of the response.
func (s *Server) takeBody(i *Interaction, header http.Header, body []byte) {
	r := &http.Request{Method: http.MethodPost, Header: header, Body: io.NopCloser(bytes.NewReader(body))}
	req := &request{http: r, method: http.MethodPost, route: "the endpoint's response", files: map[string]File{}, used: map[string]bool{}, at: time.Now()}
	i.attempts++
	refused := s.checkBody(&route{}, req, req.decode())
	switch {
	case refused != nil:
	case i.answered:
		refused = refuse(http.StatusBadRequest, codeAcknowledged, "Interaction has already been acknowledged.")
	case i.expired():
		refused = unknown(codeUnknownInteraction, "interaction")
	default:
		refused = s.respond(req, i)
	}
	if refused == nil {
		return
	}
	i.failure = "the endpoint's answer was refused: " + refused.String()
	if refused.code == codeInvalidForm {
		s.violation("%s", i.failure)
	}
}
