package demo

import (
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/users"
)

// Config is the house that is filled.
type Config struct {
	Pool   *pgxpool.Pool // of a database that nobody needs later
	Users  *users.Store
	Ledger *billing.Ledger
	Runs   *runner.Service
	Now    time.Time     // where the week ends
	AtMost time.Duration // how long filling may take; what is not made by then is left out
	Count  int           // how many runs are made, where there is time for them
	Done   func()        // told after each run
}

// week is how far back the times reach.
const week = 7 * 24 * time.Hour

// house is a house while it is filled. Its chance is the same each time.
type house struct {
	Config
	chance *rand.Rand
	people []*person
	made   []runs.Run // in the order in which they were accepted
}

// person is somebody simulated, with the last picture that they made.
type person struct {
	users.Account
	platform string
	weight   int
	picture  registry.Media
}
