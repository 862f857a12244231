package missions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

// withChains is a house whose registry has chains, too.
func withChains(t *testing.T) *house {
	t.Helper()
	return chained(t).start()
}

// chained is such a house in which nobody works yet.
func chained(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	h.loader = registrytest.NewLoader("fixed", travel()...)
	known, err := catalog.New(catalog.Config{Loaders: []registry.Loader{h.loader, NewChains(h.pool, nil)}, Reserved: []string{"/help"}})
	if err == nil {
		_, err = known.Reload(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	h.tools = known
	return h
}

func poster(user string) Chain {
	return Chain{AccountID: user, Name: "Poster", Command: "/poster", Visibility: Private, Legs: []DraftLeg{
		{Tool: "paint", Order: 1, Inputs: map[string]any{"where": "Porto"}}, {Tool: "frame", Order: 2, Inputs: map[string]any{"image": outputOf(1, "image")}},
	}, Exposed: []Exposed{{Name: "place", Leg: 1, Input: "where", Label: "Place"}, {Name: "text", Leg: 2, Input: "after"}}}
}

func (h *house) save(c Chain) Chain {
	h.t.Helper()
	c, err := h.SaveChain(h.t.Context(), c)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func runOf(user, tool string, inputs map[string]any) runs.Request {
	return runs.Request{AccountID: user, ToolID: tool, Origin: runs.Origin{Platform: "api"}, Values: map[runs.Source]map[string]any{runs.FromArgument: inputs}}
}

// changes offers a tool as it is changed.
func (h *house) changes(id string, change func(t *registry.Tool)) {
	h.t.Helper()
	tools := travel()
	change(&tools[slices.IndexFunc(tools, func(t registry.Tool) bool { return t.ToolID == id })])
	h.loader.Set(tools...)
	if _, err := h.tools.Reload(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// file is the hash of a stored file of an account, made of one digit.
func (h *house) file(digit, owner string) string {
	h.t.Helper()
	hash := strings.Repeat(digit, 64)
	_, err := h.pool.Exec(h.t.Context(), `WITH a AS (INSERT INTO assets (hash, size, mime) VALUES ($1, 1, 'image/png') RETURNING hash)
		INSERT INTO asset_owners (account_id, hash, kind, size) SELECT $2, hash, 'upload', 1 FROM a`, hash, owner)
	if err != nil {
		h.t.Fatal(err)
	}
	return hash
}

func (h *house) runEnds(run runs.Run) runs.Run {
	h.t.Helper()
	run, err := runs.Await(h.t.Context(), h.runs, run, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return run
}

func TestChains(t *testing.T) {
	t.Parallel()
	t.Run("a chain is a tool with its exposed inputs, priced before it runs; its legs pay, and it gives what the last one made", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		user := h.user()
		c := h.save(poster(user))
		tool, ok := h.tools.Snapshot().For(user).ByCommand("/poster")
		if !ok || tool.Kind != ChainKind || len(tool.InputSchema) != 2 || tool.InputSchema[0].Default != "Porto" || tool.InputSchema[0].DisplayName != "Place" || len(tool.OutputSchema) != 1 {
			t.Fatalf("the tool is %+v", tool)
		}
		b, err := h.runs.Bind(t.Context(), runOf(user, c.ToolID(), map[string]any{"place": "Faro"}))
		if err != nil {
			t.Fatal(err)
		}
		quote, err := h.runs.Quote(t.Context(), b)
		if err != nil || quote.High != 2*cent || quote.Held() != 0 {
			t.Fatalf("the price is %+v, %v", quote, err)
		}
		run, err := h.runs.AcceptBound(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		run = h.runEnds(run)
		if run.Status != runs.StatusSucceeded || len(run.Outputs) != 1 || run.Outputs[0].Type != "image" || run.Cost != 0 {
			t.Errorf("the run is %s with %+v, %+v", run.Status, run.Outputs, run.Error)
		}
		if got := h.agency.inputs["paint"][0]["where"]; got != "Faro" {
			t.Errorf("painted %v", got)
		}
		h.wantBalance(user, billing.Dollar-2*cent)
	})
	t.Run("when a leg fails the chain's run fails with its words, and what was done is taken back", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		h.agency.answer = failing("paint", soldOut)
		user := h.user()
		c := h.save(Chain{AccountID: user, Name: "Trip", Command: "/trip", Visibility: Public, Legs: []DraftLeg{{Tool: "flight", Order: 1}, {Tool: "paint", Order: 2}}})
		run, err := h.runs.Accept(t.Context(), runOf(user, c.ToolID(), nil))
		if err != nil || run.Status != runs.StatusAwaitingConfirmation { // a booking is confirmed, also within a chain
			t.Fatal(run.Status, err)
		}
		if run, err = h.runs.Confirm(t.Context(), run.ID, user); err != nil {
			t.Fatal(err)
		}
		if run = h.runEnds(run); run.Status != runs.StatusFailed || run.Error.Message != "Paint: sold out" {
			t.Errorf("the run is %s, %+v", run.Status, run.Error)
		}
		h.wantCalls("flight", "paint", "cancel_flight")
		h.wantBalance(user, billing.Dollar)
	})
	t.Run("a private chain is its owner's alone, a public one everybody's with their own money", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		ann, bob := h.user(), h.user()
		c := h.save(poster(ann))
		if _, err := h.runs.Accept(t.Context(), runOf(bob, c.ToolID(), nil)); err == nil {
			t.Error("bob runs ann's private chain")
		}
		if _, err := h.Chain(t.Context(), c.ID, bob); !errors.Is(err, ErrNoChain) {
			t.Error(err)
		}
		if err := h.DeleteChain(t.Context(), c.ID, bob); !errors.Is(err, ErrNoChain) {
			t.Error(err)
		}
		c.AccountID = bob
		if _, err := h.SaveChain(t.Context(), c); err == nil {
			t.Error("bob changes ann's chain")
		}
		c.AccountID, c.Visibility = ann, Public
		if c = h.save(c); c.Version != 2 {
			t.Errorf("the version is %d", c.Version)
		}
		run, err := h.runs.Accept(t.Context(), runOf(bob, c.ToolID(), nil))
		if err != nil {
			t.Fatal(err)
		}
		if run = h.runEnds(run); run.Status != runs.StatusSucceeded {
			t.Errorf("the run is %s, %+v", run.Status, run.Error)
		}
		h.wantBalance(ann, billing.Dollar)
		h.wantBalance(bob, billing.Dollar-2*cent)
		limited := runOf(bob, c.ToolID(), nil)
		limited.Budget = runs.Budget{Name: "key", Limit: billing.Dollar}
		if _, err := h.runs.Accept(t.Context(), limited); registry.AsError(err) == nil || registry.AsError(err).Code != registry.CodeUnauthorized {
			t.Errorf("a key with a limit runs a chain, which the limit does not bound: %v", err)
		}
		if err := h.DeleteChain(t.Context(), c.ID, ann); err != nil {
			t.Fatal(err)
		}
		if _, there := h.tools.Snapshot().ByCommand("/poster"); there {
			t.Error("a deleted chain is still a tool")
		}
	})
	t.Run("a chain lends whoever runs it the files that its owner wrote into it, and those alone", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		ann, bob, carl, dora := h.user(), h.user(), h.user(), h.user()
		hers, his := h.file("a", ann), h.file("b", carl)
		framed := func(command, hash string, exposed ...Exposed) string {
			legs := []DraftLeg{{Tool: "frame", Order: 1, Inputs: map[string]any{"image": "asset:" + hash}}}
			c := h.save(Chain{AccountID: ann, Name: "Framed", Command: command, Visibility: Public, Legs: legs, Exposed: exposed})
			return c.ToolID()
		}
		for who, chain := range map[string]string{bob: framed("/framed", hers), dora: framed("/default", hers, Exposed{Leg: 1, Input: "image", Name: "image"})} {
			run, err := h.runs.Accept(t.Context(), runOf(who, chain, nil))
			if err != nil {
				t.Fatal(err)
			}
			if run = h.runEnds(run); run.Status != runs.StatusSucceeded {
				t.Errorf("ann's picture in ann's chain, run by somebody else: %s, %v", run.Status, run.Error)
			}
		}
		stolen := []string{framed("/stolen", his), framed("/offered", his, Exposed{Leg: 1, Input: "image", Name: "image"})}
		for _, chain := range stolen {
			for _, who := range []string{ann, bob} {
				run, err := h.runs.Accept(t.Context(), runOf(who, chain, nil))
				if err == nil {
					if run = h.runEnds(run); run.Status == runs.StatusSucceeded {
						t.Error("carl's picture came along in ann's chain")
					}
				}
			}
		}
		kept := runs.Request{AccountID: ann, ToolID: "frame", Values: map[runs.Source]map[string]any{runs.FromPreset: {"image": "asset:" + his}}}
		for what, request := range map[string]runs.Request{"a chain": runOf(ann, stolen[1], nil), "a preset": kept} {
			request.Shown = true
			if _, err := h.runs.Accept(t.Context(), request); err == nil {
				t.Errorf("%s brought carl's picture into a chat", what)
			}
		}
		var owners int
		if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM asset_owners WHERE hash = $1`, his).Scan(&owners); err != nil || owners != 1 {
			t.Errorf("carl's picture is that of %d people, %v", owners, err)
		}
	})
	t.Run("who runs somebody else's chain sees the steps that change something or send something out, and says the word", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		ann, bob := h.user(), h.user()
		begun := func(who string, c Chain) runs.Run {
			t.Helper()
			run, err := h.runs.Accept(t.Context(), runOf(who, c.ToolID(), nil))
			if err != nil {
				t.Fatal(err)
			}
			return run
		}
		for i, second := range []string{"publish", "send"} {
			c := h.save(Chain{AccountID: ann, Name: "Trip", Command: "/trip_" + second, Visibility: Public, Legs: []DraftLeg{
				{Tool: "look", Order: 1}, {Tool: second, Order: 2, Inputs: map[string]any{"where": "elsewhere", "after": outputOf(1, "result")}},
			}})
			h.runEnds(begun(ann, c)) // its author knows what it does
			if run := begun(bob, c); run.Status != runs.StatusAwaitingConfirmation || run.Preview == nil || len(run.Preview.Parts) != 2 {
				t.Fatalf("a chain that may %s is %s, and shows %+v", second, run.Status, run.Preview)
			} else if got := fmt.Sprint(run.Preview.Parts[1].Name, run.Preview.Parts[1].Inputs); !strings.Contains(got, "elsewhere") || !strings.Contains(got, "after string  1") {
				t.Errorf("shown is %s", got)
			} else if got := len(h.agency.called()); got != 2*(i+1)+2*i {
				t.Errorf("%d calls were made before anybody said so", got)
			} else if run, err := h.runs.Confirm(t.Context(), run.ID, bob); err != nil {
				t.Error(err)
			} else if run = h.runEnds(run); run.Status != runs.StatusSucceeded {
				t.Errorf("what was confirmed is %s: %+v", run.Status, run.Error)
			}
		}
		makes := poster(ann)
		makes.Visibility = Public
		if run := begun(bob, h.save(makes)); run.Status == runs.StatusAwaitingConfirmation {
			t.Error("a chain that only makes pictures asks")
		}
	})
	t.Run("a model's call of a chain waits when a tool of its changes something since it was saved", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		ann := h.user()
		c := h.save(Chain{AccountID: ann, Name: "Look", Command: "/look_around", Visibility: Private, Legs: []DraftLeg{{Tool: "look", Order: 1}}})
		asked := runOf(ann, c.ToolID(), nil)
		asked.Approval = runs.ApproveWrites
		before, err := h.runs.Accept(t.Context(), asked)
		if err != nil || before.Status == runs.StatusAwaitingConfirmation {
			t.Fatalf("it is %s, %v", before.Status, err)
		}
		h.changes("look", func(t *registry.Tool) { t.Capability = registry.CapabilityWrite })
		if run, err := h.runs.Accept(t.Context(), asked); err != nil || run.Status != runs.StatusAwaitingConfirmation {
			t.Errorf("it is %s, %v", run.Status, err)
		}
	})
	t.Run("a chain that sends something out since its steps were looked at does not run", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		ann, bob := h.user(), h.user()
		c := h.save(Chain{AccountID: ann, Name: "Look", Command: "/look_around", Visibility: Public, Legs: []DraftLeg{{Tool: "look", Order: 1}}})
		b, err := h.runs.Bind(t.Context(), runOf(bob, c.ToolID(), nil))
		if err == nil {
			_, err = h.runs.Quote(t.Context(), b)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.changes("look", func(t *registry.Tool) { t.Reaches = []string{"where"} })
		run, err := h.runs.AcceptBound(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if run = h.runEnds(run); run.Status != runs.StatusFailed || len(h.agency.called()) > 0 {
			t.Errorf("it is %s after %v", run.Status, h.agency.called())
		}
	})
	t.Run("private chains of two people have the same command, each for its owner; what is shared has one of its own", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		ann, bob, cleo := h.user(), h.user(), h.user()
		hers, his := h.save(poster(ann)), h.save(poster(bob))
		leadsTo := func(who, toolID string) {
			t.Helper()
			found := ""
			if tool, there := h.tools.Snapshot().For(who).ByCommand("/poster"); there {
				found = tool.ToolID
			}
			if found != toolID {
				t.Errorf("it leads to %q, want %q", found, toolID)
			}
		}
		leadsTo(ann, hers.ToolID())
		leadsTo(bob, his.ToolID())
		leadsTo(cleo, "")
		if found := h.tools.Snapshot().Problems(); len(found) > 0 {
			t.Error(found)
		}
		his.Visibility = Public
		his = h.save(his)
		leadsTo(ann, hers.ToolID()) // the own one before what others share
		leadsTo(cleo, his.ToolID())
		refused := func(c Chain, words string) {
			t.Helper()
			var wrong *registry.Error
			if _, err := h.SaveChain(t.Context(), c); !errors.As(err, &wrong) || wrong.Field != "command" || !strings.Contains(wrong.Message, words) {
				t.Errorf("got %v", err)
			}
		}
		hers.Visibility = Public
		refused(hers, "somebody else shares /poster")
		refused(poster(ann), "you have /poster already")
		look := poster(ann)
		look.Command = "/look"
		refused(look, "/look is a tool of this house")
		help := poster(ann)
		help.Command = "/help"
		refused(help, "/help is a tool of this house")
		err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error { return Adopt(t.Context(), tx, ann, cleo) })
		if _, reload := h.tools.Reload(t.Context(), ChainService); err != nil || reload != nil {
			t.Fatal(err, reload)
		}
		leadsTo(cleo, hers.ToolID())
	})
	t.Run("a tool that gets the command of a chain keeps nobody from saving another", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		ann, bob := h.user(), h.user()
		shared := poster(ann)
		shared.Visibility = Public
		h.save(shared)
		later := travel()[0]
		later.ToolID, later.CommandName = "later", "/poster"
		h.loader.Set(append(travel(), later)...)
		if _, err := h.tools.Reload(t.Context()); err == nil {
			t.Fatal("nobody is told that two claim /poster")
		}
		other := poster(bob)
		other.Command = "/print"
		h.save(other)
	})
	t.Run("what is wrong is refused at its member", func(t *testing.T) {
		t.Parallel()
		h := withChains(t)
		user := h.user()
		first := h.save(poster(user))
		for field, change := range map[string]func(*Chain){
			"command":         func(c *Chain) { c.Command = "poster" },
			"visibility":      func(c *Chain) { c.Visibility = "house" },
			"name":            func(c *Chain) { c.Name = "" },
			"tool":            func(c *Chain) { c.Legs[0].Tool = first.ToolID() },
			"exposed.1.input": func(c *Chain) { c.Exposed = []Exposed{{Name: "x", Leg: 1, Input: "nonsense"}} },
			"exposed.1":       func(c *Chain) { c.Exposed = []Exposed{{Name: "x", Leg: 9, Input: "where"}} },
			"legs.1.order":    func(c *Chain) { c.Legs[0].Order = 2 },
		} {
			c := poster(user)
			c.Command = "/other"
			change(&c)
			_, err := h.SaveChain(t.Context(), c)
			if typed := registry.AsError(err); typed == nil || typed.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		if _, err := h.SaveChain(t.Context(), poster(user)); registry.AsError(err) == nil || registry.AsError(err).Field != "command" {
			t.Errorf("a command is taken twice: %v", err)
		}
	})
	t.Run("inputs follow the new names of a step's tool", func(t *testing.T) {
		t.Parallel()
		inputs := map[string]any{"place": "Faro"}
		Follow(tool("look", func(t *registry.Tool) { t.Migrations = []registry.Rename{{From: "place", To: "where"}} }), inputs)
		if inputs["where"] != "Faro" || len(inputs) != 1 {
			t.Errorf("got %v", inputs)
		}
	})
}
