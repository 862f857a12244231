// Package fees tells before a run what the nodes of a prompt that call partners' services cost: by the price badges that a server declares for
// them (price_badge in /object_info), which are expressions in JSONata over a node's widgets and inputs, as ComfyUI's own editor reads them.
//
// A price is told only where it is one for the whole run of a node. What can't be known for certain is an error, never a guess.
package fees

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	jsonata "github.com/blues/jsonata-go"
	"github.com/blues/jsonata-go/jparse"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/objectinfo"
)

const (
	// ownNodes is where ComfyUI's own partner nodes come from. Prices of others are not believed.
	ownNodes = "comfy_api_nodes"

	maxExpression = 32 << 10 // bytes; the longest seen has 3.4 kB
	maxFee        = 1000     // US dollars, of one node
	maxCompiled   = 1000
)

// Badges evaluates price badges, and keeps what it has compiled. It is safe for concurrent use; the zero value works.
type Badges struct{ compiled map[string]compiled } // guarded by interpreter

// compiled is an expression for the interpreter, and as it was parsed.
type compiled struct {
	*jsonata.Expr
	parsed jparse.Node
}

// interpreter lets one expression be evaluated at a time: the library keeps what its functions are called on in variables of its own.
var interpreter sync.Mutex

// Of gives what each node costs in US dollars, by the id of those nodes of the prompt that call partners' services and run. Of a range the upper
// end counts, since nobody tells after the run what it was. The error says of which node the price can't be told, and why.
func (b *Badges) Of(info *objectinfo.Info, prompt graph.Prompt) (map[string]json.Number, error) {
	running := needed(info, prompt)
	prices := make(map[string]json.Number)
	for _, n := range prompt {
		class, ok := info.Class(n.Class)
		if !ok || !class.APINode || !running[n.ID] {
			continue
		}
		price, err := b.price(info, prompt, class, n)
		if err != nil {
			return nil, fmt.Errorf("the price of node %s (%.60s) can't be told: %w", n.ID, n.Class, err)
		}
		prices[n.ID] = price
	}
	return prices, nil
}

func (b *Badges) price(info *objectinfo.Info, prompt graph.Prompt, class *objectinfo.Class, n graph.PromptNode) (json.Number, error) {
	switch {
	case class.Price == nil:
		return "", errors.New("its class declares none")
	case !strings.HasPrefix(class.Module, ownNodes):
		return "", errors.New("its class is none of ComfyUI's own")
	case behindList(info, prompt, n.ID, map[string]bool{}):
		return "", errors.New("it may run more than once, for each item of a list")
	}
	widgets, err := widgetsOf(class.Price, n)
	if err != nil {
		return "", err
	}
	given, err := b.evaluate(class.Price.Expression, map[string]any{
		"widgets": widgets, "inputs": connected(class.Price, n), "inputGroups": counted(class.Price, n),
	})
	if err != nil {
		return "", err
	}
	return amount(given)
}

// evaluate runs an expression on JSON values with float64 for numbers.
func (b *Badges) evaluate(expression string, on map[string]any) (given any, err error) {
	defer func() {
		if p := recover(); p != nil {
			given, err = nil, fmt.Errorf("its expression breaks the interpreter: %v", p)
		}
	}()
	interpreter.Lock()
	defer interpreter.Unlock()
	known, err := b.compile(expression)
	if err != nil {
		return nil, fmt.Errorf("its expression is none: %w", err)
	}
	values, err := json.Marshal(on)
	if err != nil {
		return nil, err
	}
	if err := check(known.parsed, len(values)); err != nil {
		return nil, fmt.Errorf("its expression is not evaluated: %w", err)
	}
	if given, err = known.Eval(on); err != nil {
		return nil, fmt.Errorf("its expression has no value: %w", err)
	}
	return given, nil
}

func (b *Badges) compile(expression string) (compiled, error) {
	if len(expression) > maxExpression {
		return compiled{}, fmt.Errorf("more than %d bytes", maxExpression)
	}
	if known, ok := b.compiled[expression]; ok {
		return known, nil
	}
	parsed, err := jparse.Parse(expression)
	if err != nil {
		return compiled{}, err
	}
	expr, err := jsonata.Compile(expression)
	if err != nil {
		return compiled{}, err
	}
	if b.compiled == nil || len(b.compiled) >= maxCompiled {
		b.compiled = make(map[string]compiled)
	}
	b.compiled[expression] = compiled{expr, parsed}
	return b.compiled[expression], nil
}

// badgeResult is what an expression gives.
type badgeResult struct {
	Type   string       `json:"type"`
	USD    *json.Number `json:"usd"`
	MinUSD *json.Number `json:"min_usd"`
	MaxUSD *json.Number `json:"max_usd"`
	Format struct {
		Suffix string `json:"suffix"`
	} `json:"format"`
}

// amount reads the price of a whole run out of what an expression gave. Prices by the second, by tokens or by pictures are none.
func amount(given any) (json.Number, error) {
	raw, err := json.Marshal(given)
	if err != nil {
		return "", fmt.Errorf("its expression gives no JSON: %w", err)
	}
	var r badgeResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", fmt.Errorf("its expression gives %.100s, which is no price of a run", raw)
	}
	price := r.USD
	if r.Type == "range_usd" && r.MinUSD != nil {
		price = r.MaxUSD
	} else if r.Type != "usd" {
		price = nil
	}
	suffix := strings.ToLower(strings.TrimSpace(r.Format.Suffix))
	if price == nil || suffix != "" && suffix != "/run" {
		return "", fmt.Errorf("its expression gives %.100s, which is no price of a run", raw)
	}
	usd, err := price.Float64()
	if err != nil || usd < 0 || usd > maxFee {
		return "", fmt.Errorf("its expression gives %s dollars; 0 to %d are expected", *price, maxFee)
	}
	return json.Number(strconv.FormatFloat(math.Ceil(usd*1e9-1e-3)/1e9, 'f', -1, 64)), nil
}

// widgetsOf gives an expression's widgets their values as the editor does: texts in lower case. One that is not there is null. One whose value comes
// from another node is known only while it runs.
func widgetsOf(badge *objectinfo.PriceBadge, n graph.PromptNode) (map[string]any, error) {
	values := make(map[string]any, len(badge.Widgets))
	for _, w := range badge.Widgets {
		value, _ := n.Inputs.Get(w.Name)
		if _, linked := value.(graph.Ref); linked {
			return nil, fmt.Errorf("it depends on %.60s, which another node gives", w.Name)
		}
		known, err := widgetValue(w.Type, value)
		if err != nil {
			return nil, fmt.Errorf("it depends on %.60s: %w", w.Name, err)
		}
		values[w.Name] = known
	}
	return values, nil
}

func widgetValue(kind string, value any) (any, error) {
	switch v := value.(type) {
	case nil, bool:
		return v, nil
	case json.Number:
		f, err := v.Float64()
		if kind != "COMBO" && kind != "INT" && kind != "FLOAT" {
			return v.String(), err
		}
		return f, err
	case string:
		text := strings.ToLower(strings.TrimSpace(v))
		switch kind {
		case "INT", "FLOAT":
			f, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
				return nil, errors.New("its value is no number")
			}
			return f, nil
		case "BOOLEAN":
			b, err := strconv.ParseBool(text)
			return b, err
		}
		return text, nil
	}
	return nil, errors.New("its value is neither text nor number")
}

func connected(badge *objectinfo.PriceBadge, n graph.PromptNode) map[string]any {
	inputs := make(map[string]any, len(badge.Inputs))
	for _, name := range badge.Inputs {
		value, _ := n.Inputs.Get(name)
		_, linked := value.(graph.Ref)
		inputs[name] = map[string]any{"connected": linked}
	}
	return inputs
}

// counted tells how many inputs of each group are connected.
func counted(badge *objectinfo.PriceBadge, n graph.PromptNode) map[string]any {
	groups := make(map[string]any, len(badge.Groups))
	for _, group := range badge.Groups {
		count := 0
		for _, in := range n.Inputs {
			if _, linked := in.Value.(graph.Ref); linked && strings.HasPrefix(in.Name, group+".") {
				count++
			}
		}
		groups[group] = float64(count)
	}
	return groups
}

// needed are the nodes that output nodes need: the others do not run.
func needed(info *objectinfo.Info, prompt graph.Prompt) map[string]bool {
	running := make(map[string]bool)
	var visit func(id string)
	visit = func(id string) {
		n := prompt.Node(id)
		if n == nil || running[id] {
			return
		}
		running[id] = true
		for _, source := range sources(n) {
			visit(source)
		}
	}
	for _, n := range prompt {
		if class, ok := info.Class(n.Class); ok && class.OutputNode {
			visit(n.ID)
		}
	}
	return running
}

// behindList tells whether a node gets anything from one that gives lists, for whose items the server runs what follows one by one.
func behindList(info *objectinfo.Info, prompt graph.Prompt, id string, seen map[string]bool) bool {
	n := prompt.Node(id)
	if n == nil || seen[id] {
		return false
	}
	seen[id] = true
	return slices.ContainsFunc(sources(n), func(source string) bool {
		from := prompt.Node(source)
		if from == nil {
			return false
		}
		class, ok := info.Class(from.Class)
		return ok && class.GivesLists || behindList(info, prompt, source, seen)
	})
}

func sources(n *graph.PromptNode) []string {
	var ids []string
	for _, in := range n.Inputs {
		if link, ok := in.Value.(graph.Ref); ok {
			ids = append(ids, link.Node)
		}
	}
	return ids
}
