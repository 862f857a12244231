package card

import (
	"cmp"
	"encoding/json"
	"strings"
)

// reader makes an Answer of a value.
type reader struct {
	out Answer
}

func (r *reader) read(value any) {
	switch v := value.(type) {
	case object:
		r.object(v, Data)
	case []any:
		r.list(v)
	}
}

// list reads a list: of cards, or of things to list.
func (r *reader) list(list []any) {
	for _, one := range list {
		if o, isObject := one.(object); !isObject || kindOf(o) == Data {
			r.add(Card{Items: r.items(list)})
			return
		}
	}
	for _, one := range list {
		r.object(one.(object), Data)
	}
}

// wrapped are the members that hold cards of a kind.
var wrapped = []struct {
	name string
	kind Kind
}{{"card", Plain}, {"cards", Plain}, {"receipt", Receipt}, {"receipts", Receipt}, {"confirmation", Confirmation}}

// object reads a card, or what holds some; kind is what its holder calls it.
func (r *reader) object(o object, kind Kind) {
	actions := o.take("actions", "followupactions", "followups", "nextactions")
	var held []func()
	for _, w := range wrapped {
		switch v := o.take(w.name).(type) {
		case object:
			held = append(held, func() { r.object(v, w.kind) })
		case []any:
			if cards, rest := objects(v); len(rest) == 0 {
				for _, one := range cards {
					held = append(held, func() { r.object(one, w.kind) })
				}
			} else {
				o = append(o, newMember(w.name, v))
			}
		case nil:
		default:
			o = append(o, newMember(w.name, v)) // {"confirmation": "QX7K2P"} is a value
		}
	}
	kind = cmp.Or(kindOf(o), kind)
	if kind == Data && actions != nil {
		kind = Plain
	}
	if len(o) > 0 {
		r.card(o, kind)
	}
	for _, read := range held {
		read()
	}
	r.actions(actions)
}

// objects splits a list into its objects and what is none.
func objects(list []any) (found []object, rest []any) {
	for _, one := range list {
		if o, isObject := one.(object); isObject {
			found = append(found, o)
		} else {
			rest = append(rest, one)
		}
	}
	return found, rest
}

var referenceNames = []string{"reference", "confirmationnumber", "confirmationcode", "bookingreference", "bookingnumber", "ordernumber"}

// kindOf tells what an object is meant as: by its type, or by what only such a thing has.
func kindOf(o object) Kind {
	for _, name := range []string{"type", "kind"} {
		copied := o
		if word, isText := copied.take(name).(string); isText {
			switch k := Kind(strings.ToLower(word)); k {
			case Plain, Receipt, Confirmation:
				return k
			}
		}
	}
	switch {
	case o.has("total", "totalamount") && o.has("items", "lines", "lineitems"):
		return Receipt
	case o.has("confirmationnumber", "confirmationcode", "bookingreference"), o.has("reference") && o.has("status"):
		return Confirmation
	case o.has("title") && o.has("text", "fields", "items", "subtitle"):
		return Plain
	}
	return Data
}

func (r *reader) card(o object, kind Kind) {
	c := Card{Kind: kind}
	for _, name := range []string{"type", "kind"} {
		copied := o
		if word, isText := copied.take(name).(string); isText && kind != Data && strings.EqualFold(word, string(kind)) {
			o = copied
		}
	}
	currency := r.line(scalar(o.take("currency", "currencycode")), maxLabel)
	if kind != Data {
		c.Title, c.Subtitle = r.takeLine(&o, "title", "headline"), r.takeLine(&o, "subtitle")
		c.Text = r.text(takeText(&o, "text", "summary", "message", "description", "body"))
		c.Status, c.Reference = r.takeLine(&o, "status"), r.takeLine(&o, referenceNames...)
		c.Total = r.amount(o.take("total", "totalamount", "amount"), currency)
		r.links(&c, &o)
		r.fields(&c, o.take("fields", "details", "facts"))
		for _, name := range []string{"items", "lines", "lineitems", "legs", "options"} {
			rest := o
			if list, isList := rest.take(name).([]any); isList && c.Items == nil {
				c.Items, o = r.pricedItems(list, currency), rest
			}
		}
	} else if currency != "" {
		o = append(o, newMember("currency", currency))
	}
	r.rest(&c, o)
	r.add(c)
}

// rest shows members that have no place of their own as fields, and lists of objects as items.
func (r *reader) rest(c *Card, o object) {
	for _, m := range o {
		list, isList := m.value.([]any)
		if found, _ := objects(list); isList && len(found) > 0 && len(c.Items) == 0 {
			c.Items = r.items(list)
			continue
		}
		r.field(c, m.key, m.value)
	}
}

func (r *reader) add(c Card) {
	if c.Title == "" && c.Subtitle == "" && c.Text == "" && c.Status == "" && c.Reference == "" && c.Total == "" && len(c.Fields)+len(c.Items)+len(c.Links) == 0 {
		return
	}
	if len(r.out.Cards) >= maxCards {
		r.out.Cut = true
		return
	}
	r.out.Cards = append(r.out.Cards, c)
}

// links takes the addresses of a card. One that is not https is left out.
func (r *reader) links(c *Card, o *object) {
	for _, of := range []struct {
		image bool
		names []string
	}{{false, []string{"url", "link", "href"}}, {true, []string{"image", "imageurl", "picture"}}} {
		value := o.take(of.names...)
		label := ""
		if held, isObject := value.(object); isObject {
			label = r.takeLine(&held, "label", "title", "alt")
			value = held.take("url", "href", "src")
		}
		if address, isText := value.(string); isText {
			if u, host, ok := secure(address); ok {
				c.Links = append(c.Links, Link{Label: label, Host: host, URL: u, Image: of.image})
				continue
			}
		}
		r.out.Cut = r.out.Cut || value != nil
	}
}

// fields reads a card's own fields: a list of labels and values, or an object.
func (r *reader) fields(c *Card, v any) {
	switch v := v.(type) {
	case object:
		for _, m := range v {
			r.field(c, m.key, m.value)
		}
	case []any:
		for _, one := range v {
			o, isObject := one.(object)
			if !isObject {
				r.field(c, "", one)
				continue
			}
			label := r.line(scalar(o.take("label", "name", "title", "key")), maxLabel)
			r.labelled(c, label, o.take("value", "text"))
		}
	case nil:
	default:
		r.field(c, "details", v)
	}
}

func (r *reader) field(c *Card, key string, value any) {
	r.labelled(c, r.line(words(key), maxLabel), value)
}

func (r *reader) labelled(c *Card, label string, value any) {
	if value == nil {
		return
	}
	f := Field{Label: label}
	if address, isText := value.(string); isText {
		f.URL, f.Value, _ = secure(address)
	}
	if f.URL == "" {
		f.Value = r.line(r.inline(value), maxLine)
	}
	if f.Value == "" {
		return
	}
	if len(c.Fields) >= maxFields {
		r.out.Cut = true
		return
	}
	c.Fields = append(c.Fields, f)
}

// titles are the members that name an entry of a list, in order of preference.
var titles = []string{"title", "name", "label", "summary", "subject", "alt", "description", "id"}

func (r *reader) items(list []any) []Item { return r.pricedItems(list, "") }

func (r *reader) pricedItems(list []any, currency string) []Item {
	var items []Item
	for _, one := range list {
		if len(items) >= maxItems {
			r.out.Cut = true
			break
		}
		if item := r.item(one, currency); item != (Item{}) {
			items = append(items, item)
		}
	}
	return items
}

func (r *reader) item(v any, currency string) Item {
	o, isObject := v.(object)
	if !isObject {
		return Item{Title: r.line(r.inline(v), maxLine)}
	}
	currency = cmp.Or(r.line(scalar(o.take("currency", "currencycode")), maxLabel), currency)
	item := Item{Title: r.takeLine(&o, titles...), Quantity: r.takeLine(&o, "quantity", "qty", "count")}
	item.Amount = r.amount(o.take("amount", "price", "total", "cost"), currency)
	if address, isText := o.take("url", "link", "href", "sourceurl").(string); isText {
		item.URL, _, _ = secure(address)
		r.out.Cut = r.out.Cut || item.URL == ""
	}
	text := r.takeLine(&o, "text", "subtitle", "description", "summary")
	if rest := r.inline(o); rest != "" {
		text = strings.TrimPrefix(text+" · "+rest, " · ")
	}
	item.Text = r.line(text, maxLine)
	return item
}

// amount reads a sum: a number or text with the currency beside it, or an object of both.
func (r *reader) amount(v any, currency string) string {
	given := v != nil
	if o, isObject := v.(object); isObject {
		currency = cmp.Or(r.line(scalar(o.take("currency", "currencycode")), maxLabel), currency)
		v = o.take("amount", "value", "total")
	}
	sum := r.line(scalar(v), maxLabel)
	r.out.Cut = r.out.Cut || given && sum == ""
	if sum == "" || currency == "" || strings.Contains(sum, currency) {
		return sum
	}
	return sum + " " + currency
}

// actions reads follow-up actions. One without a tool or a label is none.
func (r *reader) actions(v any) {
	list, isList := v.([]any)
	if !isList {
		r.out.Cut = r.out.Cut || v != nil
		return
	}
	for _, one := range list {
		if a, ok := r.action(one); !ok || len(r.out.Actions) >= maxActions {
			r.out.Cut = true
		} else {
			r.out.Actions = append(r.out.Actions, a)
		}
	}
}

func (r *reader) action(v any) (Action, bool) {
	o, isObject := v.(object)
	if !isObject {
		return Action{}, false
	}
	tool, _ := o.take("tool", "toolid", "operationid").(string)
	a := Action{Label: r.line(scalar(o.take("label", "title", "text")), maxLabel), Tool: strings.TrimSpace(tool), Inputs: map[string]any{}}
	a.InPlace, _ = o.take("inplace").(bool)
	if a.Label == "" || a.Tool == "" || len(a.Tool) > maxLine {
		return a, false
	}
	switch inputs := plain(o.take("inputs", "input", "arguments", "parameters")).(type) {
	case map[string]any:
		a.Inputs = inputs
	case nil:
	default:
		return a, false
	}
	raw, err := json.Marshal(a.Inputs)
	return a, err == nil && len(raw) <= maxInputs
}
