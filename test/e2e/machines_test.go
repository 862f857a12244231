//go:build unix

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/assets/bucket/buckettest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/workflows/workflowstest"
)

// machine is the spec of a process of a house of several: an own DATA_DIR; database, files and key are the house's.
func machine(t *testing.T, env []string) spec {
	t.Helper()
	return spec{plain: true, dir: newDir(t), env: env}
}

// house is what the machines of a house share.
func house(t *testing.T, database, key string) []string {
	t.Helper()
	files := buckettest.New(t)
	return []string{
		"DATABASE_URL=" + database, "HOUSE_KEY=" + key, "ADMIN_TOKEN=" + adminToken, "COMFYUI_URLS=" + startEngine(t), "WORKFLOWS_DIR=" + workflowstest.SmallDir(t),
		"S3_ENDPOINT=" + files.URL.String(), "S3_BUCKET=" + buckettest.Bucket, "S3_REGION=" + buckettest.Region,
		"S3_ACCESS_KEY_ID=" + buckettest.AccessKeyID, "S3_SECRET_ACCESS_KEY=" + buckettest.SecretAccessKey,
		"SIGNUP_CREDIT_USD=5", "LOG_LEVEL=warn",
	}
}

const houseKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// TestProcessesAreOneHouse has two processes on one database serve Telegram and Discord under load, and kills the one that polls Telegram. Each
// command has one run that is charged once, and its result once; the other process does within ten seconds what the first did.
func TestProcessesAreOneHouse(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	const shards = 4
	tg := telegramtest.New(t, telegramtest.Options{Patience: hang})
	dc := discordtest.New(t, discordtest.Options{Patience: hang, Shards: shards})
	pool := postgrestest.New(t)
	env := append(house(t, postgrestest.DSN(pool), houseKey), "TELEGRAM_BOT_TOKEN="+tg.Token, "TELEGRAM_API_URL="+tg.URL,
		"DISCORD_BOT_TOKEN="+dc.Token, "DISCORD_APP_ID="+dc.ApplicationID, "DISCORD_API_URL="+dc.URL)
	first := start(t, machine(t, env))
	connected := func() (ids []string) {
		for _, s := range dc.Sessions() {
			if s.Connected {
				ids = append(ids, s.ID)
			}
		}
		slices.Sort(ids)
		return ids
	}
	await(t, "the shards of one process", func() bool { return len(connected()) == shards }, first.said)
	second := start(t, machine(t, env))
	await(t, "each to have its part", func() bool { return parts(t, pool) == "discord 2, discord 2, telegram 1" && len(connected()) == shards },
		func() string { return parts(t, pool) + first.said() + second.said() })
	sessions := connected()

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var crowd sync.WaitGroup
	const people = 4
	commands := make([][]telegramtest.Message, people)
	chats := make([]*telegramtest.Chat, people)
	for i := range people {
		u := tg.User("Person" + strconv.Itoa(i))
		chats[i] = u.Private()
		u.Start("")
		crowd.Go(func() { commands[i] = write(ctx, tg, u, rand.New(rand.NewPCG(uint64(i), 2)), new(atomic.Int64)) })
	}
	asked := make([][]*discordtest.Interaction, people)
	channels := make([]*discordtest.Channel, people)
	for i := range people {
		u := dc.User("Guest" + strconv.Itoa(i))
		channels[i] = dc.Guild("Guild"+strconv.Itoa(i), u).Text("general")
		crowd.Go(func() { asked[i] = ask(ctx, dc, u, channels[i]) })
	}
	await(t, "load", func() bool { return len(results(tg, chats[0])) >= 3 && len(pictures(dc, channels[0])) >= 2 }, first.said)

	first.kill()
	killed := time.Now()
	await(t, "the other to take over", func() bool { return parts(t, pool) == "discord 4, telegram 1" && len(connected()) == shards }, second.said)
	took := time.Since(killed)
	late := tg.User("Late")
	late.Start("")
	awaitAnswers(t, tg, late.Private(), []telegramtest.Message{late.Send(late.Private(), "/wallpaper")}, second)
	t.Logf("all connections were back after %v, a picture was there %v after the kill", took.Round(time.Millisecond), time.Since(killed).Round(time.Millisecond))
	checkQuickest(t, "taking over", 10*time.Second, took)
	if got := connected(); !slices.Equal(got, sessions) {
		t.Errorf("Discord's sessions are %v, were %v: they did not go on", got, sessions)
	}
	stop()
	crowd.Wait()

	s := &siege{t: t, p: second}
	total, doubts := 1, 0
	for i, chat := range chats {
		total += len(commands[i])
		awaitAnswers(t, tg, chat, commands[i], second)
	}
	for i := range people {
		total += len(asked[i])
		await(t, "the pictures on Discord", func() bool { return len(pictures(dc, channels[i])) >= len(asked[i]) },
			func() string { return dc.Transcript(channels[i]) + tail(second.said(), 40) })
	}
	s.awaitRest(pool)
	s.checkMoney(pool, total)
	for i, chat := range chats {
		d, _ := checkChat(t, tg, chat, commands[i])
		doubts += d
		if shown := pictures(dc, channels[i]); len(shown) != len(asked[i]) {
			t.Errorf("%d commands on Discord have %d pictures", len(asked[i]), len(shown))
		}
	}
	if doubts > people {
		t.Errorf("%d results are in doubt after one kill", doubts)
	}
	t.Logf("%d commands, %d in doubt", total, doubts)
}

// ask sends commands on Discord until ctx ends, one after the other's answer.
func ask(ctx context.Context, dc *discordtest.Server, u *discordtest.User, channel *discordtest.Channel) (sent []*discordtest.Interaction) {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return sent
		case <-again.C:
		}
		if len(pictures(dc, channel)) == len(sent) {
			sent = append(sent, u.Command(channel, "wallpaper"))
		}
	}
}

// pictures are the messages of a channel with a picture.
func pictures(dc *discordtest.Server, channel *discordtest.Channel) (list []discordtest.Message) {
	for _, m := range dc.History(channel) {
		if len(m.Attachments) > 0 {
			list = append(list, m)
		}
	}
	return list
}

// parts tells who keeps how many connections.
func parts(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	var text string
	err := pool.QueryRow(t.Context(), `SELECT coalesce(string_agg(part, ', ' ORDER BY part), '') FROM (
		SELECT split_part(kind, ' ', 1) || ' ' || count(*) AS part FROM house_shares WHERE kind NOT LIKE 'pace of %' GROUP BY kind, process) AS of_each`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestProcessesOfAHouse(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	pool := postgrestest.New(t)
	env := house(t, postgrestest.DSN(pool), houseKey)
	first := start(t, machine(t, env))
	pooled := append(slices.Clone(env), "DATABASE_URL="+postgrestest.PgBouncer(t, pool))
	second := start(t, machine(t, append(slices.Clone(pooled), "DATABASE_SESSION_URL="+postgrestest.DSN(pool))))

	t.Run("one behind a pooler of transactions needs an address for sessions", func(t *testing.T) {
		r := run(t, machine(t, pooled))
		if r.code == 0 || !strings.Contains(r.stderr, "DATABASE_SESSION_URL") || len(lines(r.stderr)) != 1 {
			t.Errorf("it ended with %d and said %s", r.code, r.stderr)
		}
	})
	t.Run("work that one accepts behind a pooler is done", func(t *testing.T) {
		c := newClient(second, "carl")
		for i := range 20 {
			if c.tryOrder("pooled-"+strconv.Itoa(i)) == "" {
				t.Fatal("the order was not taken")
			}
		}
		s := &siege{t: t, p: second}
		s.awaitRest(pool)
		s.checkMoney(pool, 20)
	})

	t.Run("one with another key is refused with a line that says what to do", func(t *testing.T) {
		other := machine(t, append(slices.Clone(env), "HOUSE_KEY="+strings.Repeat("ab", 32)))
		r := run(t, other)
		if r.code == 0 || !strings.Contains(r.stderr, "HOUSE_KEY") || !strings.Contains(r.stderr, "share the key") || len(lines(r.stderr)) != 1 {
			t.Errorf("it ended with %d and said %s", r.code, r.stderr)
		}
	})
	t.Run("a picture of one is had from the other, by the same address", func(t *testing.T) {
		a, b := newClient(first, "ann"), newClient(second, "bob")
		id := a.tryOrder("picture")
		if id == "" {
			t.Fatal("the order was not taken")
		}
		var url string
		await(t, "the picture", func() bool {
			for _, r := range a.runs() {
				if r.RunID == id && r.Status == "succeeded" {
					url = r.Outputs[0].URL
				}
			}
			return url != ""
		}, first.said)
		elsewhere := strings.Replace(url, first.page, second.page, 1)
		if elsewhere == url || len(b.picture(elsewhere)) == 0 {
			t.Errorf("%s is not at the other process", fmt.Sprint(url))
		}
	})
}
