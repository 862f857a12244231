package postgres

import (
	"cmp"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A network that fails says nothing, and by the defaults of Go and of the kernel a connection over it stands still for minutes, or for ever.
// These bound how long that is noticed by nobody.
const (
	// connectTimeout bounds one try to connect, unless the address sets connect_timeout.
	connectTimeout = 5 * time.Second
	// pingTimeout is how long a connection that has been idle may take to show that it is alive before another takes its place.
	pingTimeout = 5 * time.Second
	// silence is how long the other side may leave unanswered what was sent.
	silence = 20 * time.Second
)

// boundSilence has a pool's connections end when the network does, or the machine at its other end.
func boundSilence(config *pgxpool.Config, dsn string) {
	c := config.ConnConfig
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, connectTimeout)
	if !strings.Contains(dsn, "pool_ping_timeout") {
		config.PingTimeout = pingTimeout
	}
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 2, Interval: silence / 4, Count: 2}, ControlContext: userTimeout}
	c.DialFunc = dialer.DialContext
}
