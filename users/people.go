package users

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
)

// Person is an account as an operator sees it.
type Person struct {
	Account
	Identities []LinkedIdentity
	Blocked    bool
	Limits     LimitSettings
}

// PeopleQuery chooses people; empty members choose all.
type PeopleQuery struct {
	Text      string // part of a name or handle, a platform's id, or an account's id
	Platform  string // has an identity there
	Operators bool
	Blocked   bool
	Before    string // an account's id: only older ones, for paging
	Limit     int    // 1 to 200; 0 means 50
}

// lately is how many of the newest people are looked at for a text before the indexes are: a text that many have fills a page with them, and an
// index would give them all.
const lately = 1000

// Conditions on a text, $1. The index has pieces of names; what has all pieces of the text is looked at. OFFSET 0 has the identities of
// each of the newest people looked up, in place of everybody's.
const (
	calledSQL = `strpos(lower(u.display_name), lower($1)) > 0`
	namedSQL  = `(strpos(lower(i.name), lower($1)) > 0 OR strpos(lower(i.handle), lower($1)) > 0)`
	fitsSQL   = `u.id = users_now(nullif($2, '')::uuid) OR ` + calledSQL + ` OR EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id AND (i.external_id = $1 OR ` + namedSQL + `) OFFSET 0)`
	foundSQL  = `u.id IN (SELECT users_now(nullif($2, '')::uuid)
		UNION SELECT u.id FROM users u WHERE name_pieces(lower(u.display_name)) @> name_sought(lower($1)) AND ` + calledSQL + `
		UNION SELECT i.user_id FROM user_identities i WHERE i.external_id = $1
		UNION SELECT i.user_id FROM user_identities i WHERE name_pieces(lower(i.name || E'\n' || i.handle)) @> name_sought(lower($1)) AND ` + namedSQL + `)`
	newestPeopleSQL = `u.merged_into IS NULL
		AND ($3 = '' OR EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id AND i.platform = $3))
		AND (NOT $4 OR u.operator)
		AND (NOT $5 OR EXISTS (SELECT FROM access_rules r WHERE r.kind = 'account' AND r.subject = u.id::text AND NOT r.allow AND r.where_kind = ''))
		AND ($6 = '' OR u.id < nullif($6, '')::uuid)
		ORDER BY u.id DESC LIMIT $7`
)

// People lists accounts, newest first. Those that were merged away are found by the survivor only.
func (s *Store) People(ctx context.Context, q PeopleQuery) ([]Person, error) {
	q.Text, q.Limit = cleanText(strings.TrimSpace(q.Text)), pageOf(q.Limit)
	accounts, err := s.accounts(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	return s.persons(ctx, accounts)
}

func (s *Store) accounts(ctx context.Context, q PeopleQuery) ([]Account, error) {
	id := q.Text
	if _, err := uuid.Parse(q.Text); err != nil {
		id = ""
	}
	ask := func(query func(context.Context, string, ...any) (pgx.Rows, error), statement string, limit int, more ...any) ([]Account, error) {
		args := append([]any{q.Text, id, q.Platform, q.Operators, q.Blocked, q.Before, limit}, more...)
		rows, _ := query(ctx, `SELECT `+accountColumns+` FROM `+statement, args...)
		return pgx.CollectRows(rows, pgx.RowToStructByName[Account])
	}
	among := q.Limit
	if q.Text != "" {
		among = lately
	}
	found, err := ask(s.pool.Query, `(SELECT * FROM users u WHERE `+newestPeopleSQL+`) u WHERE ($1 = '' OR `+fitsSQL+`) ORDER BY u.id DESC LIMIT $8`, among, q.Limit)
	if err != nil || q.Text == "" || len(found) == q.Limit {
		return found, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// What many names have the planner looks for by cutting all of them into pieces, which takes a hundred times as long as to look at the index.
		_, err := tx.Exec(ctx, `SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`)
		if err == nil {
			found, err = ask(tx.Query, `users u WHERE `+foundSQL+` AND `+newestPeopleSQL, q.Limit)
		}
		return err
	})
	return found, err
}

// PersonByID gives one account as an operator sees it, or ErrNotFound.
func (s *Store) PersonByID(ctx context.Context, accountID string) (Person, error) {
	account, err := s.ByID(ctx, accountID)
	if err != nil {
		return Person{}, err
	}
	people, err := s.persons(ctx, []Account{account})
	if err != nil {
		return Person{}, err
	}
	return people[0], nil
}

// persons adds to accounts what belongs to them.
func (s *Store) persons(ctx context.Context, accounts []Account) ([]Person, error) {
	p, err := s.policy.get(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	people := make([]Person, len(accounts))
	ids := make([]string, len(accounts))
	at := make(map[string]int, len(accounts))
	for i, a := range accounts {
		allow, ruled := p.rules[ruleKey{kind: RuleAccount, subject: a.ID}]
		people[i] = Person{Account: a, Blocked: ruled && !allow, Limits: p.limits[a.ID]}
		ids[i], at[a.ID] = a.ID, i
	}
	rows, _ := s.pool.Query(ctx, `
		SELECT user_id::text, platform, external_id, name, handle, language, created_at FROM user_identities
		WHERE user_id = ANY ($1::text[]::uuid[]) ORDER BY created_at, platform, external_id`, ids)
	var owner string
	var i LinkedIdentity
	_, err = pgx.ForEachRow(rows, []any{&owner, &i.Platform, &i.ExternalID, &i.Name, &i.Handle, &i.Language, &i.LinkedAt}, func() error {
		person := &people[at[owner]]
		person.Identities = append(person.Identities, i)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	return people, nil
}

// SetOperator makes somebody an operator, or no longer one, as the program decides.
func (s *Store) SetOperator(ctx context.Context, accountID string, operator bool) error {
	return s.ChangeOperator(ctx, accountID, operator, BySystem, "")
}

// EndOffice makes somebody whom the program made an operator one no longer. Whom another operator made one stays so.
func (s *Store) EndOffice(ctx context.Context, accountID string) error {
	var by string
	err := s.pool.QueryRow(ctx, `
		SELECT by_whom FROM user_audit WHERE action = $2
		AND account_id IN (SELECT u.id FROM users u WHERE u.id = users_now($1) OR u.merged_into = users_now($1)) ORDER BY id DESC LIMIT 1`, accountID, actionOperator).Scan(&by)
	if err == nil && by != BySystem {
		return nil
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("change user %s: %w", accountID, err)
	}
	return s.SetOperator(ctx, accountID, false)
}

// ChangeOperator makes somebody an operator, or no longer one. by is who decides it, note why.
func (s *Store) ChangeOperator(ctx context.Context, accountID string, operator bool, by, note string) error {
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		account, err := lockAccount(ctx, tx, accountID)
		if err != nil || account.Operator == operator {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE users SET operator = $2 WHERE id = $1`, account.ID, operator); err != nil {
			return err
		}
		detail := "no longer an operator"
		if operator {
			detail = "an operator"
		}
		return audit(ctx, tx, AuditEntry{By: by, AccountID: account.ID, Action: actionOperator, Detail: detail, Note: note})
	})
	return errs.Wrap(err, "change user %s", accountID)
}
