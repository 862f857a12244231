package price

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/decimal"
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
	var unsaid []string
	for _, value := range goesTo(b) {
		address, ok := bare(value)
		if !ok { // something that goes along
			p.Capability = registry.CapabilityWrite
			return nil
		}
		if !s.said(b.Request, address) {
			unsaid = append(unsaid, address)
		}
	}
	if len(unsaid) == 0 {
		return nil
	}
	unknown, err := s.notFound(ctx, b.Request.AccountID, unsaid)
	if err != nil {
		return fmt.Errorf("where %s goes: %w", b.Tool.ToolID, err)
	}
	if len(unknown) > 0 {
		p.Capability = registry.CapabilityWrite
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

// mentions reports whether an address stands in a text, letter for letter, and is no part of a longer name there; of a whole site people
// write capitals as they like. Who has named a page has named its site.
func mentions(text, address string) bool {
	if site := !strings.ContainsAny(address, "/?"); site && address == strings.ToLower(address) {
		text = strings.ToLower(text)
	}
	for from := 0; ; {
		at := strings.Index(text[from:], address)
		if at < 0 {
			return false
		}
		at += from
		if begins(text[:at]) && ends(text[at+len(address):]) {
			return true
		}
		from = at + 1
	}
}

// begins reports whether an address may begin behind a text: behind a scheme, or what is no part of an address.
func begins(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return strings.HasSuffix(before, "://") || !inName(r) && !strings.ContainsRune("./@=&%", r)
}

// ends reports whether an address may end before a text: before a further part of its path or query, or the end of a sentence.
func ends(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	next, _ := utf8.DecodeRuneInString(after[size:])
	return !inName(r) && !strings.ContainsRune("@=%", r) && (r != '.' && r != ':' || !inName(next))
}

// inName reports whether names of sites and pages go on with a letter. Those without capitals are no part of one: Chinese is written around
// addresses without a space.
func inName(r rune) bool {
	return unicode.IsLower(r) || unicode.IsUpper(r) || unicode.IsDigit(r) || strings.ContainsRune("-_~+", r)
}

// said reports whether an address is the house's own, where its files are, or one that the person has written.
func (s *Pricer) said(r runs.Request, address string) bool {
	host, _, _ := strings.Cut(address, "/")
	return host == s.Config.SiteID || slices.ContainsFunc(r.Said, func(text string) bool { return mentions(text, address) })
}

// notFound are those of some addresses to which none of the account's latest calls that went outside has gone, and which none has found there.
func (s *Pricer) notFound(ctx context.Context, accountID string, addresses []string) ([]string, error) {
	reaching := map[string][]string{}
	for t := range s.Config.Registry.Snapshot().Each() {
		if len(t.Reaches) > 0 && t.Capability == registry.CapabilityRead {
			reaching[t.ToolID] = t.Reaches
		}
	}
	rows, _ := s.Config.Pool.Query(ctx, `
		SELECT tool_id, convert_to(inputs::text, 'UTF8'), convert_to(coalesce(outputs, '[]')::text, 'UTF8') FROM runs
		WHERE account_id = $1 AND tool_id = ANY($2) AND status = 'succeeded' AND deleted_at IS NULL AND id >= $3 ORDER BY id DESC LIMIT $4`,
		accountID, slices.Collect(maps.Keys(reaching)), store.FirstID(s.Config.Now().Add(-foundFor)), foundAmong)
	var tool string
	var given, answered []byte
	_, err := pgx.ForEachRow(rows, []any{&tool, &given, &answered}, func() error {
		gone := went{reaching: reaching[tool]}
		if err := errors.Join(decimal.Unmarshal(given, &gone.inputs), json.Unmarshal(answered, &gone.outputs)); err != nil {
			return err
		}
		addresses = slices.DeleteFunc(addresses, gone.names)
		return nil
	})
	return addresses, err
}

// went is a call that went outside by some of its inputs.
type went struct {
	reaching []string
	inputs   map[string]any
	outputs  []runs.Output
}

// names reports whether the call has gone to an address, or found it. An answer that repeats what was asked finds nothing.
func (w went) names(address string) bool {
	asked := false
	for name, value := range w.inputs {
		for _, text := range textsIn(value) {
			if there, ok := bare(text); ok && there == address && slices.Contains(w.reaching, name) {
				return true
			}
			asked = asked || strings.Contains(strings.ToLower(text), strings.ToLower(address)) // in whatever it stands: the answer may have other words around it
		}
	}
	return !asked && slices.ContainsFunc(w.outputs, func(o runs.Output) bool {
		return mentions(strings.ReplaceAll(o.Text, `\u0026`, "&"), address) // it is JSON
	})
}
