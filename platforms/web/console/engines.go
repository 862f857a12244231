package console

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/signalbox/signalbox/registry"
)

// engineOrders are what an operator can order about an engine.
var engineOrders = []struct {
	word, order, title, button string
	says                       []string
	danger                     bool
}{
	{"cordon", "cordoned", "Cordon %s", "Cordon", []string{"No new run goes there. What runs or waits there goes on."}, false},
	{"drain", "draining", "Drain %s", "Drain",
		[]string{"No new run goes there. What runs or waits there is finished; once nothing is left it can be turned off, and that it is down is no alarm."}, false},
	{"release", "released", "Release %s", "Release",
		[]string{"No new run goes there, and what is there is given back: what waits goes to other engines, what has begun is stopped and begins anew on another one.",
			"A run that has begun and must not be repeated ends, and nothing is charged for it. Where no other engine can do the work, the runs wait."}, true},
	{"uncordon", "", "Give %s new runs", "Give it new runs", []string{"It takes runs as usual again."}, false},
}

func (c *Console) engineDeeds() (deeds []deed) {
	if c.cfg.OrderEngine == nil {
		return nil
	}
	for _, o := range engineOrders {
		deeds = append(deeds, deed{
			path: "engines/{id}/" + o.word, place: "engines",
			plan: func(ctx context.Context, name string) (plan, error) {
				e, err := c.engineNamed(ctx, name)
				if err != nil {
					return plan{}, err
				}
				on := fmt.Sprintf("Runs at work there: %d, waiting: %d.", len(e.Running), len(e.Waiting))
				return plan{Title: fmt.Sprintf(o.title, name), Says: append(slices.Clone(o.says), on), Button: o.button, Danger: o.danger, Why: true, Back: "engines"}, nil
			},
			do: func(ctx context.Context, done order) (outcome, error) {
				if err := c.cfg.OrderEngine(ctx, done.ID, o.order); err != nil {
					return outcome{}, err
				}
				state := "takes runs again"
				if o.order != "" {
					state = "is " + o.order
				}
				return outcome{Action: "engine." + o.word, Says: fmt.Sprintf("Engine %s %s.", done.ID, state), To: Root + "engines"}, nil
			},
		})
	}
	return deeds
}

func (c *Console) engineNamed(ctx context.Context, name string) (Engine, error) {
	for _, e := range c.enginesNow(ctx) {
		if e.Name == name {
			return e, nil
		}
	}
	return Engine{}, registry.Errorf(registry.CodeInvalidInput, "No engine is called %.80s.", name)
}

// Path leads to what can be done to the engine; its name may have slashes.
func (e Engine) Path() string { return Root + "engines/" + url.PathEscape(e.Name) + "/" }
