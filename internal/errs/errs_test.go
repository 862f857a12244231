package errs_test

import (
	"errors"
	"testing"

	"github.com/signalbox/signalbox/internal/errs"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	if err := errs.Wrap(nil, "list people"); err != nil {
		t.Error(err)
	}
	cause := errors.New("no connection")
	if err := errs.Wrap(cause, "keep %s of %q", "50 %", "a"); !errors.Is(err, cause) || err.Error() != `keep 50 % of "a": no connection` {
		t.Error(err)
	}
}
