package problem_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	own := &problem.Problem{Status: http.StatusConflict, Code: "taken", Detail: "It is taken.", Cause: registry.Errorf(registry.CodeInvalidInput, "it is taken")}
	for name, c := range map[string]struct {
		err    error
		status int
		code   string
		detail string
		ours   bool
	}{
		"a package's own problem, wrapped": {fmt.Errorf("step: %w", own), http.StatusConflict, "taken", "It is taken.", false},
		"a typed error":                    {registry.Errorf(registry.CodeRateLimited, "slower"), http.StatusTooManyRequests, "rate_limited", "slower", false},
		"what a room does not have":        {registry.Errorf(registry.CodeLost, "no page"), http.StatusNotFound, "not_found", "no page", false},
		"what is not there":                {fmt.Errorf("keys: %w", users.ErrNotFound), http.StatusNotFound, "not_found", problem.ErrNothingThere.Detail, false},
		"everything else is told without its words": {
			errors.New("password of the database: secret"), http.StatusInternalServerError, "internal", "Something went wrong on our side. Nothing was charged.", true,
		},
	} {
		if p := problem.Explain(c.err); p.Status != c.status || p.Code != c.code || p.Detail != c.detail || p.Ours() != c.ours {
			t.Errorf("%s: %+v", name, p)
		}
	}
	var cause *registry.Error
	if !errors.As(error(own), &cause) || cause.Code != registry.CodeInvalidInput {
		t.Error("the cause of a problem is not found")
	}
}
