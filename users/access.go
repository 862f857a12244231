package users

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// RuleKind says whom a rule is about.
type RuleKind string

// The kinds of rules, the most specific first.
const (
	RuleAccount  RuleKind = "account"  // a person, wherever they come from
	RuleIdentity RuleKind = "identity" // a person of one platform, who need not have come yet
	RuleRole     RuleKind = "role"
	RuleChat     RuleKind = "chat"
	RuleSpace    RuleKind = "space"
)

// Rule allows or denies the tools to somebody, or to all in a place.
type Rule struct {
	ID       int64
	Allow    bool
	Kind     RuleKind
	Platform string // empty for accounts
	Subject  string // the account's id, or the platform's id of the identity, role, chat or space
	Where    Place  // the place that the rule is for, set by its admins; zero: everywhere
	Note     string
	By       string // who set it
	At       time.Time
	Name     string // of the person, where Rules knows it
}

// Reason says why Check refuses.
type Reason string

// The reasons.
const (
	ReasonBlocked  Reason = "blocked"  // the person
	ReasonRole     Reason = "role"     // a role of theirs
	ReasonChat     Reason = "chat"     // the chat
	ReasonSpace    Reason = "space"    // the space
	ReasonStranger Reason = "stranger" // nobody allowed them, where that is needed
	ReasonTool     Reason = "tool"     // the place does not have this tool
)

// Subject is who wants to use a tool, and where.
type Subject struct {
	AccountID  string
	Operator   bool // may do everything
	Platform   string
	ExternalID string
	Chat       string // of the platform; empty outside of chats, as its space
	Space      string
	Roles      []string
}

// Decision is the answer to a Subject.
type Decision struct {
	Allowed bool
	Reason  Reason // why not
}

// Err is nil where it is allowed, and what to tell people where it is not.
func (d Decision) Err() error {
	if d.Allowed {
		return nil
	}
	return registry.Say(registry.CodeUnauthorized, map[Reason]said.Sentence{
		ReasonBlocked:  said.AccessBlocked,
		ReasonRole:     said.AccessRole,
		ReasonChat:     said.AccessChat,
		ReasonSpace:    said.AccessSpace,
		ReasonStranger: said.AccessStranger,
		ReasonTool:     said.AccessTool,
	}[d.Reason])
}

// Check decides whether somebody may use a tool; an empty toolID asks for any. Of the rules that hold
// everywhere the most specific kind decides, and within a kind a denial. Where none is about the subject, it
// is allowed, or with Config.Listed refused, unless another identity of theirs is listed. The rules of the place itself are then asked in the same way,
// so they can only narrow; and last its list of tools. The answer comes from memory; what other processes
// change counts within policyLife.
func (s *Store) Check(ctx context.Context, who Subject, toolID string) (Decision, error) {
	if who.Operator {
		return Decision{Allowed: true}, nil
	}
	p, err := s.policy.get(ctx, s)
	if err != nil {
		return Decision{}, fmt.Errorf("check access: %w", err)
	}
	who.AccountID = p.today(who.AccountID)
	d := p.judge(who, Place{}, !s.listed())
	if d.Reason == ReasonStranger && who.AccountID != "" && p.listsIdentities() {
		if d, err = s.judgeOthers(ctx, p, who); err != nil {
			return Decision{}, fmt.Errorf("check access: %w", err)
		}
	}
	if !d.Allowed {
		return d, nil
	}
	for _, place := range who.places() {
		if d := p.judge(who, place, true); !d.Allowed {
			return d, nil
		}
	}
	for _, place := range who.places() {
		if tools, limited := p.tools[place]; limited {
			return allowIf(toolID == "" || slices.Contains(tools, toolID), ReasonTool), nil
		}
	}
	return Decision{Allowed: true}, nil
}

// listed reports whether strangers are turned away.
func (s *Store) listed() bool {
	listed, _ := s.config.Defaults()
	return listed
}

func allowIf(ok bool, reason Reason) Decision {
	if ok {
		return Decision{Allowed: true}
	}
	return Decision{Reason: reason}
}

// places are where the subject is, the narrowest first.
func (s Subject) places() (places []Place) {
	if s.Chat != "" {
		places = append(places, Place{s.Platform, PlaceChat, s.Chat})
	}
	if s.Space != "" {
		places = append(places, Place{s.Platform, PlaceSpace, s.Space})
	}
	return places
}

// judge asks the rules that are for a place; fallback is the answer where none is about the subject.
func (p *policy) judge(who Subject, where Place, fallback bool) Decision {
	person := []ruleKey{{RuleAccount, "", who.AccountID, where}, {RuleIdentity, who.Platform, who.ExternalID, where}}
	roles := make([]ruleKey, len(who.Roles))
	for i, role := range who.Roles {
		roles[i] = ruleKey{RuleRole, who.Platform, role, where}
	}
	for _, step := range []struct {
		keys   []ruleKey
		reason Reason
	}{
		{person, ReasonBlocked},
		{roles, ReasonRole},
		{[]ruleKey{{RuleChat, who.Platform, who.Chat, where}}, ReasonChat},
		{[]ruleKey{{RuleSpace, who.Platform, who.Space, where}}, ReasonSpace},
	} {
		if allowed, found := p.verdict(step.keys); found {
			return allowIf(allowed, step.reason)
		}
	}
	return allowIf(fallback, ReasonStranger)
}

// verdict is what the rules about any of the keys say together.
func (p *policy) verdict(keys []ruleKey) (allowed, found bool) {
	for _, key := range keys {
		allow, ok := p.rules[key]
		if ok && !allow {
			return false, true
		}
		found = found || ok
	}
	return found, found
}

// SetRule makes a rule, or replaces the one about the same subject and place; one about an account that holds
// everywhere replaces those about its identities, too. r.By is who sets it; it is the caller who checks that they may.
func (s *Store) SetRule(ctx context.Context, r Rule) error {
	if err := s.checkRule(ctx, &r); err != nil {
		return err
	}
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO access_rules (allow, kind, platform, subject, where_platform, where_kind, where_id, note, by_whom) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (kind, platform, subject, where_platform, where_kind, where_id)
			DO UPDATE SET allow = excluded.allow, note = excluded.note, by_whom = excluded.by_whom, at = now()`,
			r.Allow, r.Kind, r.Platform, r.Subject, r.Where.Platform, r.Where.Kind, r.Where.ID, cut(r.Note, maxDetail), r.By)
		if err != nil {
			return err
		}
		if r.Kind == RuleAccount && r.Where == (Place{}) {
			if _, err := tx.Exec(ctx, ruledByAccount, r.Subject); err != nil {
				return err
			}
		}
		return audit(ctx, tx, AuditEntry{By: r.By, AccountID: r.accountID(), Action: actionRule, Detail: r.name(), Note: r.Note})
	})
	if err != nil {
		return fmt.Errorf("set the rule %s: %w", r.name(), err)
	}
	s.policy.forget()
	return nil
}

// RuleAbout reads whom a rule is about, as Whom writes it.
func RuleAbout(whom string) (Rule, error) {
	if _, err := uuid.Parse(whom); err == nil {
		return Rule{Kind: RuleAccount, Subject: whom}, nil
	}
	parts := strings.SplitN(whom, ":", 3)
	if len(parts) == 2 && parts[0] != "" && parts[1] != "" {
		return Rule{Kind: RuleIdentity, Platform: parts[0], Subject: parts[1]}, nil
	}
	kinds := map[string]RuleKind{"chat": RuleChat, "space": RuleSpace, "role": RuleRole}
	if kind, known := kinds[parts[0]]; known && len(parts) == 3 && parts[1] != "" && parts[2] != "" {
		return Rule{Kind: kind, Platform: parts[1], Subject: parts[2]}, nil
	}
	return Rule{}, fmt.Errorf("whom: found %q, expected an account id, platform:id, or chat:, space: or role: before that, such as chat:telegram:-100", whom)
}

// ruledByAccount ends the rules about single identities of an account that hold everywhere.
const ruledByAccount = `
	DELETE FROM access_rules r USING user_identities i
	WHERE i.user_id = users_now($1::uuid) AND r.kind = 'identity' AND r.where_kind = '' AND r.platform = i.platform AND r.subject = i.external_id`

// checkRule completes a rule, or says what is wrong with it.
func (s *Store) checkRule(ctx context.Context, r *Rule) error {
	r.Subject = cleanText(r.Subject)
	switch r.Kind {
	case RuleAccount:
		account, err := s.ByID(ctx, r.Subject)
		if err != nil {
			return err
		}
		r.Platform, r.Subject = "", account.ID
	case RuleIdentity, RuleRole, RuleChat, RuleSpace:
		if r.Platform == "" || r.Subject == "" {
			return fmt.Errorf("a rule about a %s needs its platform and id", r.Kind)
		}
	default:
		return fmt.Errorf("rule: found the kind %q, expected account, identity, role, chat or space", r.Kind)
	}
	if r.Where != (Place{}) {
		return r.Where.valid()
	}
	return nil
}

func (r Rule) accountID() string {
	if r.Kind == RuleAccount {
		return r.Subject
	}
	return ""
}

// name is how a rule is called in records.
func (r Rule) name() string {
	verb, where := "deny", ""
	if r.Allow {
		verb = "allow"
	}
	if r.Where != (Place{}) {
		where = " in " + r.Where.name()
	}
	return fmt.Sprintf("%s %s %s:%s%s", verb, r.Kind, r.Platform, r.Subject, where)
}

const ruleColumns = `id, allow, kind, platform, subject, where_platform, where_kind, where_id, note, by_whom, at`

func scanRule(row pgx.CollectableRow) (Rule, error) {
	var r Rule
	err := row.Scan(&r.ID, &r.Allow, &r.Kind, &r.Platform, &r.Subject, &r.Where.Platform, &r.Where.Kind, &r.Where.ID, &r.Note, &r.By, &r.At)
	return r, err
}

// DeleteRule takes a rule back. One that is not there is ErrNotFound.
func (s *Store) DeleteRule(ctx context.Context, id int64, by string) error {
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `DELETE FROM access_rules WHERE id = $1 RETURNING `+ruleColumns, id)
		r, err := pgx.CollectExactlyOneRow(rows, scanRule)
		if err != nil {
			return notFound(err)
		}
		return audit(ctx, tx, AuditEntry{By: by, AccountID: r.accountID(), Action: actionRule, Detail: "no more: " + r.name()})
	})
	if err != nil {
		return fmt.Errorf("delete rule %d: %w", id, err)
	}
	s.policy.forget()
	return nil
}

// Rules lists the rules of a place, or all of them for the zero Place, newest first, with the names of the people
// that they are about.
func (s *Store) Rules(ctx context.Context, where Place) ([]Rule, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT `+ruleColumns+`, CASE kind
			WHEN 'account' THEN coalesce((SELECT display_name FROM users WHERE id::text = subject), '')
			WHEN 'identity' THEN coalesce((SELECT name FROM user_identities i WHERE i.platform = r.platform AND external_id = subject), '')
			ELSE '' END
		FROM access_rules r
		WHERE $2 = '' OR (where_platform, where_kind, where_id) = ($1, $2, $3) ORDER BY r.id DESC`, where.Platform, where.Kind, where.ID)
	rules, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Rule, err error) {
		err = row.Scan(&r.ID, &r.Allow, &r.Kind, &r.Platform, &r.Subject, &r.Where.Platform, &r.Where.Kind, &r.Where.ID, &r.Note, &r.By, &r.At, &r.Name)
		return r, err
	})
	return rules, errs.Wrap(err, "list the rules")
}

// Whom says whom a rule is about, as in telegram:12345, chat:telegram:-100 or an account's id: as operators write it.
func (r Rule) Whom() string {
	switch r.Kind {
	case RuleAccount:
		return r.Subject
	case RuleIdentity:
		return r.Platform + ":" + r.Subject
	}
	return string(r.Kind) + ":" + r.Platform + ":" + r.Subject
}

// AllowedTools lists the ids of the tools that a place has; nil: all. A chat's own list goes before its space's.
func (s *Store) AllowedTools(ctx context.Context, place Place) ([]string, error) {
	p, err := s.policy.get(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("tools of %s: %w", place.name(), err)
	}
	return slices.Clone(p.tools[place]), nil
}

// SetAllowedTools limits a place to these tools; nil gives it all of them again.
func (s *Store) SetAllowedTools(ctx context.Context, place Place, toolIDs []string, by string) error {
	if err := place.valid(); err != nil {
		return err
	}
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		statement, args := `DELETE FROM access_tools WHERE platform = $1 AND kind = $2 AND place = $3`, []any{place.Platform, place.Kind, place.ID}
		if toolIDs != nil {
			statement = `INSERT INTO access_tools (platform, kind, place, tools) VALUES ($1, $2, $3, $4)
				ON CONFLICT (platform, kind, place) DO UPDATE SET tools = excluded.tools`
			args = append(args, toolIDs)
		}
		if _, err := tx.Exec(ctx, statement, args...); err != nil {
			return err
		}
		detail := fmt.Sprintf("%s: %d tools", place.name(), len(toolIDs))
		if toolIDs == nil {
			detail = place.name() + ": all tools"
		}
		return audit(ctx, tx, AuditEntry{By: by, Action: actionTools, Detail: detail})
	})
	if err != nil {
		return fmt.Errorf("set the tools of %s: %w", place.name(), err)
	}
	s.policy.forget()
	return nil
}

// Block keeps a person from using anything, wherever they come from.
func (s *Store) Block(ctx context.Context, accountID, by, note string) error {
	return s.SetRule(ctx, Rule{Kind: RuleAccount, Subject: accountID, By: by, Note: note})
}

// Unblock takes a block back, of the person and of each of their identities. Somebody who is not blocked stays as they are.
func (s *Store) Unblock(ctx context.Context, accountID, by, note string) error {
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			DELETE FROM access_rules r WHERE NOT allow AND where_kind = '' AND (
				kind = 'account' AND subject = users_now($1)::text OR
				kind = 'identity' AND EXISTS (SELECT FROM user_identities i WHERE i.user_id = users_now($1) AND i.platform = r.platform AND i.external_id = r.subject))`, accountID)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return audit(ctx, tx, AuditEntry{By: by, AccountID: accountID, Action: actionRule, Detail: "unblocked", Note: note})
	})
	if err != nil {
		return fmt.Errorf("unblock user %s: %w", accountID, err)
	}
	s.policy.forget()
	return nil
}
