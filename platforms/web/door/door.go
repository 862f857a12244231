package door

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/users"
)

// Accounts finds the accounts of the operator and of the person at this machine, and refuses who is muted: users.Store.
type Accounts interface {
	Identify(ctx context.Context, id users.Identity) (users.Account, error)
	ByIdentity(ctx context.Context, platform, externalID string) (users.Account, error)
	SetOperator(ctx context.Context, accountID string, operator bool) error
	EndOffice(ctx context.Context, accountID string) error
	MayRun(ctx context.Context, accountID string) error
}

// Secrets knows keys and sessions: users.Store.
type Secrets interface {
	KeyOf(ctx context.Context, plaintext string) (users.Account, users.Key, error)
	KeysOf(ctx context.Context, ids []int64) (map[int64]users.Holder, error)
	NewSession(ctx context.Context, session users.Session) (secret string, err error)
	BySession(ctx context.Context, secret string) (users.Account, users.Session, error)
	EndSession(ctx context.Context, accountID, id string) error
}

// Config wires a Door. All but Site, AdminToken, MetricsToken, MediaOrigin, Proxies and APIRate is required.
type Config struct {
	Site     Site
	Accounts Accounts
	Secrets  Secrets
	Logger   *slog.Logger
	Now      func() time.Time
	// AdminToken signs the operator in. With one, anyone who opens the page on this machine is no operator without it.
	AdminToken string
	// MetricsToken opens what Watch opens, as the operator's token does.
	MetricsToken string
	// MediaOrigin is where pages may play media from beside here, such as https://files.example: an object store.
	MediaOrigin string
	// Proxies are those in front of us: what they say in X-Forwarded-For is where requests come from.
	Proxies []netip.Prefix
	// APIRate is how many requests a second one account may make; bursts may be four times that. 0: no limit.
	APIRate int
	// Key signs cookies, tokens and what pages carry. At least 16 bytes, kept across restarts.
	Key []byte
}

// Door lets requests in. Make it with New.
type Door struct {
	Site Site

	cfg          Config
	callers      callers
	keys         keys
	attempts     limiter // to sign in, by address
	guesses      limiter // wrong keys and sessions, by address
	requests     limiter // of the API, by account
	unnamedProxy sync.Once
}

// callers keeps who was looked up a moment ago, by the hash of what they showed.
type (
	callers    = cache.Cache[secretHash, caller]
	secretHash = [sha256.Size]byte
)

// callerLife is how long a caller that was looked up is believed: a key that is revoked elsewhere works for so long at most.
const callerLife = time.Second

// New checks the configuration.
func New(cfg Config) (*Door, error) {
	if len(cfg.Key) < 16 {
		return nil, fmt.Errorf("web: the link key has %d bytes, it needs at least 16", len(cfg.Key))
	}
	return &Door{
		Site: cfg.Site, cfg: cfg,
		callers:  cache.Cache[secretHash, caller]{Life: callerLife, Most: 10_000},
		keys:     keys{used: make(map[int64]secretHash)},
		attempts: limiter{rate: 0.2, burst: 10, now: cfg.Now},
		guesses:  limiter{rate: 2, burst: 60, now: cfg.Now},
		requests: limiter{rate: rate.Limit(cfg.APIRate), burst: 4 * cfg.APIRate, now: cfg.Now},
	}, nil
}
