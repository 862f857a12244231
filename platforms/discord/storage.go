package discord

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/discord/gateway"
)

// storage is what an Adapter keeps in Postgres.
type storage struct {
	pool   *pgxpool.Pool
	writer *postgres.Writer
	app    string
}

// published is the list of commands that Discord has, and what a use of them means.
type published struct {
	// Hash is that of the list that was sent; Versions are what Discord called its commands then.
	Hash     string            `json:"hash"`
	Versions map[string]string `json:"versions"`
	// Commands are the slash commands by name; OnMessages gives the meaning of a message command's name.
	Commands   map[string]usage  `json:"commands"`
	OnMessages map[string]string `json:"onMessages"`
	// PrivateOnMessages are the commands of menus whose answers are for one person only.
	PrivateOnMessages map[string]bool `json:"privateOnMessages"`
	// OnPeople is likewise for commands on people, and Entry for the entry point.
	OnPeople map[string]string `json:"onPeople,omitempty"`
	Entry    map[string]string `json:"entry,omitempty"`
}

// uses gives the meanings of the commands of a type whose names are free; nil for slash commands.
func (p published) uses(t discordgo.ApplicationCommandType) map[string]string {
	switch t {
	case discordgo.MessageApplicationCommand:
		return p.OnMessages
	case discordgo.UserApplicationCommand:
		return p.OnPeople
	case entryPoint:
		return p.Entry
	}
	return nil
}

// and gives what is published with what the commands of another list mean. Of a name in both, the other's is known.
func (p published) and(other published) published {
	p.Commands = joined(p.Commands, other.Commands)
	p.OnMessages = joined(p.OnMessages, other.OnMessages)
	p.PrivateOnMessages = joined(p.PrivateOnMessages, other.PrivateOnMessages)
	p.OnPeople = joined(p.OnPeople, other.OnPeople)
	p.Entry = joined(p.Entry, other.Entry)
	return p
}

func joined[V any](one, other map[string]V) map[string]V {
	both := make(map[string]V, len(one)+len(other))
	maps.Copy(both, one)
	maps.Copy(both, other)
	return both
}

// usage is what is to be known when a command is used.
type usage struct {
	Private bool `json:"private,omitempty"`
	// Options gives the input for an option's name, which may be another: Discord takes fewer characters.
	Options map[string]string `json:"options,omitempty"`
}

// private tells whether a command's answers are for one person only.
func (p published) private(i interaction) bool {
	switch i.Data.Type {
	case discordgo.MessageApplicationCommand, discordgo.UserApplicationCommand:
		return p.PrivateOnMessages[i.Data.Name]
	case entryPoint:
		return true
	}
	return p.Commands[i.Data.Name].Private
}

func (st storage) published(ctx context.Context) (published, error) {
	var p published
	err := st.pool.QueryRow(ctx, `SELECT commands FROM discord_apps WHERE application_id = $1`, st.app).Scan(&p)
	if errors.Is(err, pgx.ErrNoRows) {
		return published{}, nil
	}
	return p, wrap(err, "read which commands are published")
}

func (st storage) setPublished(ctx context.Context, p published) error {
	_, err := st.pool.Exec(ctx, `
		INSERT INTO discord_apps (application_id, commands) VALUES ($1, $2)
		ON CONFLICT (application_id) DO UPDATE SET commands = EXCLUDED.commands`, st.app, p)
	return wrap(err, "record which commands are published")
}

// ticket is what an interaction can be answered with.
type ticket struct {
	id        string
	kind      discordgo.InteractionType
	token     string
	channel   string
	ephemeral bool
	answered  bool
	used      bool
	created   time.Time
}

// add stores an interaction; false when it was stored before.
func (st storage) add(ctx context.Context, t ticket, messageID string) (bool, error) {
	tag, err := st.writer.Exec(ctx, `
		INSERT INTO discord_interactions (id, kind, token, channel, ephemeral, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`, t.id, int16(t.kind), t.token, t.channel, t.ephemeral, t.created)
	stored := tag.RowsAffected() > 0
	if err == nil && stored && messageID != "" {
		err = st.addMessage(ctx, messageID, t.id, true)
	}
	return stored, wrap(err, "store an interaction")
}

// ticket finds an interaction; false when it was not stored, or forgotten.
func (st storage) ticket(ctx context.Context, id string) (ticket, bool, error) {
	t := ticket{id: id}
	var kind int16
	err := st.pool.QueryRow(ctx, `
		SELECT kind, token, channel, ephemeral, answered, used, created_at FROM discord_interactions WHERE id = $1`, id).
		Scan(&kind, &t.token, &t.channel, &t.ephemeral, &t.answered, &t.used, &t.created)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, false, nil
	}
	t.kind = discordgo.InteractionType(kind)
	return t, err == nil, wrap(err, "find an interaction")
}

// update records how far an interaction is answered.
func (st storage) update(ctx context.Context, t ticket) error {
	_, err := st.writer.Exec(ctx, `UPDATE discord_interactions SET answered = $2, used = $3 WHERE id = $1`, t.id, t.answered, t.used)
	return wrap(err, "record the answer to an interaction")
}

// addMessage records that a message can be edited with an interaction's token.
func (st storage) addMessage(ctx context.Context, messageID, interactionID string, original bool) error {
	_, err := st.writer.Exec(ctx, `
		INSERT INTO discord_messages (message_id, interaction_id, original) VALUES ($1, $2, $3)
		ON CONFLICT (message_id) DO UPDATE SET interaction_id = EXCLUDED.interaction_id, original = EXCLUDED.original`,
		messageID, interactionID, original)
	return wrap(err, "record an interaction's message")
}

// interactionOf finds the interaction with whose token a message can be edited; "" for none.
func (st storage) interactionOf(ctx context.Context, messageID string) (id string, original bool, err error) {
	err = st.pool.QueryRow(ctx, `SELECT interaction_id, original FROM discord_messages WHERE message_id = $1`, messageID).Scan(&id, &original)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	return id, original, wrap(err, "find a message's interaction")
}

// prune forgets interactions that can't be answered any more.
func (st storage) prune(ctx context.Context, before time.Time) error {
	_, err := st.pool.Exec(ctx, `DELETE FROM discord_interactions WHERE created_at < $1`, before)
	return wrap(err, "forget old interactions")
}

// Session gives what is known of a shard's session.
func (st storage) Session(ctx context.Context, shard, count int) (gateway.Session, error) {
	var s gateway.Session
	err := st.pool.QueryRow(ctx, `SELECT session_id, resume_url, sequence FROM discord_sessions WHERE application_id = $1 AND shards = $2 AND shard = $3`,
		st.app, count, shard).Scan(&s.ID, &s.ResumeURL, &s.Sequence)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, nil
	}
	return s, wrap(err, "read a session of the gateway")
}

// SetSession keeps what is known of a shard's session.
func (st storage) SetSession(ctx context.Context, shard, count int, s gateway.Session) error {
	_, err := st.writer.Exec(ctx, `
		INSERT INTO discord_sessions (application_id, shards, shard, session_id, resume_url, sequence) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (application_id, shards, shard) DO UPDATE SET session_id = $4, resume_url = $5, sequence = $6`,
		st.app, count, shard, s.ID, s.ResumeURL, s.Sequence)
	return wrap(err, "keep a session of the gateway")
}

// Starts has change look at and alter what is known of new sessions, one caller of all processes at a time.
func (st storage) Starts(ctx context.Context, change func(*gateway.Starts)) error {
	err := postgres.InTx(ctx, st.pool, func(tx pgx.Tx) error {
		var s gateway.Starts
		err := tx.QueryRow(ctx, `
			INSERT INTO discord_starts (application_id, starts) VALUES ($1, '{}')
			ON CONFLICT (application_id) DO UPDATE SET application_id = $1 RETURNING starts`, st.app).Scan(&s)
		if err != nil {
			return err
		}
		change(&s)
		_, err = tx.Exec(ctx, `UPDATE discord_starts SET starts = $2 WHERE application_id = $1`, st.app, s)
		return err
	})
	return wrap(err, "look whether a new session may begin")
}

func wrap(err error, what string) error {
	return errs.Wrap(err, "discord: %s", what)
}
