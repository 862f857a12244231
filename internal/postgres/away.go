package postgres

import (
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Away reports whether err says that the database can't do anything for now, and may be able to later: it is not
// reached, starts or stops, or its machine lacks disk, memory or connections. The codes are those of appendix A of
// Postgres' manual.
func Away(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		// 08: connection exception, 53: insufficient resources, 57P: operator intervention, 58: system error.
		for _, class := range []string{"08", "53", "57P", "58"} {
			if strings.HasPrefix(refused.Code, class) {
				return true
			}
		}
		return false
	}
	var dial *pgconn.ConnectError
	var broken *net.OpError
	return errors.As(err, &dial) || errors.As(err, &broken) || errors.Is(err, io.ErrUnexpectedEOF)
}

// NoText reports whether err says that a text holds what is no character: NUL, or bytes that are no UTF-8.
func NoText(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "22021" // character_not_in_repertoire
}
