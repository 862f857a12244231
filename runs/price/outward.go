package price

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

// What counts as found of an account's calls that went outside: how long, and how many of the latest.
const (
	foundFor   = 24 * time.Hour
	foundAmong = 20
)

// outward has a model's call that goes to an address which nobody has named wait as one that changes something does: what the model has read could
// go out with it, in the address or beside it. Addresses are named by the person who is answered, by what was found outside before, and by
// calls that went there.
func (s *Pricer) outward(ctx context.Context, b runs.Bound, p *registry.Preview) error {
	if b.Request.Approval == runs.ApproveNothing || p.Capability == registry.CapabilityWrite || b.Tool.Capability != registry.CapabilityRead {
		return nil // a person asks, or it waits anyway
	}
	for _, value := range goesTo(b) {
		named, err := s.named(ctx, b.Request, value)
		if err != nil {
			return fmt.Errorf("where %s goes: %w", b.Tool.ToolID, err)
		}
		if !named {
			p.Capability = registry.CapabilityWrite
			return nil
		}
	}
	return nil
}

// goesTo are the values that say where a call goes and what goes along: those of the inputs that its tool names, and addresses of files.
func goesTo(b runs.Bound) []string {
	var list []string
	for _, f := range b.Tool.InputSchema {
		reaches := slices.Contains(b.Tool.Reaches, f.Name)
		for _, text := range textsIn(b.Inputs[f.Name]) {
			if _, address := bare(text); reaches || f.Type.IsMedia() && address {
				list = append(list, text)
			}
		}
	}
	return list
}

// textsIn are the texts of a value.
func textsIn(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			texts = append(texts, textsIn(item)...)
		}
	case map[string]any:
		for name, item := range v {
			texts = append(append(texts, name), textsIn(item)...)
		}
	}
	return texts
}

// bare is a web address as people write it: without its scheme, the slash at its end and its fragment, which goes nowhere.
func bare(text string) (string, bool) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", false
	}
	_, rest, _ := strings.Cut(strings.TrimSpace(text), "://")
	rest, _, _ = strings.Cut(rest, "#")
	return strings.TrimSuffix(rest, "/"), true
}

// mentions reports whether an address stands in a text, letter for letter; of a whole site people write capitals as they like.
func mentions(text, address string) bool {
	site := !strings.ContainsAny(address, "/?") && address == strings.ToLower(address)
	return strings.Contains(text, address) || site && strings.Contains(strings.ToLower(text), address)
}

// named reports whether somebody else than the model has named what it goes to.
func (s *Pricer) named(ctx context.Context, r runs.Request, value string) (bool, error) {
	address, ok := bare(value)
	if !ok {
		return false, nil // something that goes along
	}
	if host, _, _ := strings.Cut(address, "/"); host == s.Config.SiteID {
		return true, nil // a file of the house's own
	}
	if slices.ContainsFunc(r.Said, func(text string) bool { return mentions(text, address) }) {
		return true, nil
	}
	return s.found(ctx, r.AccountID, address)
}

// found reports whether the account's latest calls that went outside have gone to an address, or found it there. An answer that repeats what was
// asked finds nothing.
func (s *Pricer) found(ctx context.Context, accountID, address string) (bool, error) {
	reaching := map[string][]string{}
	var tools []string
	for t := range s.Config.Registry.Snapshot().Each() {
		if len(t.Reaches) > 0 && t.Capability == registry.CapabilityRead {
			reaching[t.ToolID], tools = t.Reaches, append(tools, t.ToolID)
		}
	}
	rows, err := s.Config.Pool.Query(ctx, `
		SELECT tool_id, convert_to(inputs::text, 'UTF8'), convert_to(coalesce(outputs, '[]')::text, 'UTF8') FROM runs
		WHERE account_id = $1 AND tool_id = ANY($2) AND status = 'succeeded' AND deleted_at IS NULL AND created_at > $3 ORDER BY id DESC LIMIT $4`,
		accountID, tools, s.Config.Now().Add(-foundFor), foundAmong)
	if err != nil {
		return false, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (bool, error) {
		var tool string
		var given, answered []byte
		if err := row.Scan(&tool, &given, &answered); err != nil {
			return false, err
		}
		return names(reaching[tool], given, answered, address)
	})
	return slices.Contains(found, true), err
}

// names reports whether a call that went outside by some of its inputs has gone to an address, or found it.
func names(reaching []string, given, answered []byte, address string) (bool, error) {
	var inputs map[string]any
	if err := store.DecodeStored(given, &inputs); err != nil {
		return false, err
	}
	asked := false
	for name, value := range inputs {
		for _, text := range textsIn(value) {
			if there, ok := bare(text); ok && there == address && slices.Contains(reaching, name) {
				return true, nil
			}
			asked = asked || mentions(text, address)
		}
	}
	var outputs []runs.Output
	if err := json.Unmarshal(answered, &outputs); err != nil || asked {
		return false, err
	}
	return slices.ContainsFunc(outputs, func(o runs.Output) bool {
		return mentions(strings.ReplaceAll(o.Text, `\u0026`, "&"), address) // it is JSON
	}), nil
}
