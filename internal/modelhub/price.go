// Package modelhub has what is common to providers whose service hosts many models. Each model has its own schema and price and
// becomes a tool: it is quoted and billed by price lists, and the model decides the form of its results.
package modelhub

import (
	_ "embed" // the price list
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/registry"
)

//go:embed prices.json
var defaultPrices []byte

// Prices are what hosted models cost, as data with a date: by service, then by model.
type Prices struct {
	AsOf     string                      `json:"asOf"`
	Note     string                      `json:"note,omitempty"`
	Services map[string]map[string]Price `json:"services"`
}

// Price is what a model costs: so many US dollars for each of what it is priced by.
type Price struct {
	USD json.Number `json:"usd"`
	Per string      `json:"per"`
	// Seconds are those of a video or sound where no input says how long it is to be.
	Seconds json.Number `json:"seconds,omitempty"`
}

// What models are priced by.
const (
	PerRun            = "run"
	PerImage          = "image"
	PerMegapixel      = "megapixel"
	PerSecond         = "second" // of video or sound that is made
	PerHardwareSecond = "hardware-second"
)

// perWords are those by which services call it, one or several.
var perWords = map[string]string{
	"run": PerRun, "request": PerRun, "generation": PerRun, "video": PerRun, "call": PerRun, "image": PerImage, "megapixel": PerMegapixel, "second": PerSecond,
	"video_second": PerSecond, "video second": PerSecond, "hardware-second": PerHardwareSecond, "compute second": PerHardwareSecond, "compute_second": PerHardwareSecond, "gpu second": PerHardwareSecond,
}

// PerOf gives what a service's word for a unit means; false: it is not known.
func PerOf(word string) (string, bool) {
	per, known := perWords[strings.TrimSuffix(strings.ToLower(strings.TrimSpace(word)), "s")]
	return per, known
}

// DefaultPrices is the list that comes with the program.
func DefaultPrices() (Prices, error) { return ParsePrices(defaultPrices) }

// ParsePrices reads a price list.
func ParsePrices(data []byte) (Prices, error) {
	var p Prices
	if err := decimal.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("prices of models: %w", err)
	}
	for service, models := range p.Services {
		for model, price := range models {
			if err := price.check(); err != nil {
				return p, fmt.Errorf("prices of models: %s: %s: %w", service, model, err)
			}
		}
	}
	return p, nil
}

func (p Price) check() error {
	if rate, err := decimal.Parse(p.USD); err != nil || rate.Sign() < 0 {
		return fmt.Errorf("usd is %q; expected US dollars like 0.025", p.USD)
	}
	if known, ok := PerOf(p.Per); !ok || known != p.Per {
		return fmt.Errorf("per is %q; expected run, image, megapixel, second or hardware-second", p.Per)
	}
	if p.Seconds != "" {
		if seconds, err := decimal.Parse(p.Seconds); err != nil || seconds.Sign() <= 0 {
			return fmt.Errorf("seconds is %q; expected a number above zero", p.Seconds)
		}
	}
	return nil
}

// Of gives the price of a service's model.
func (p Prices) Of(service, model string) (Price, bool) {
	price, known := p.Services[service][model]
	return price, known
}

// costing is how a tool of such a price is billed.
func (p Price) costing() *registry.CostingModel {
	if p.Per == PerHardwareSecond {
		return &registry.CostingModel{Rate: p.USD, Unit: registry.UnitSecond, RateSource: registry.RateStatic}
	}
	return &registry.CostingModel{Rate: p.USD, Unit: registry.UnitRequest, RateSource: registry.RateAPI}
}

// priceKey is the member of a tool's metadata, and of a ticket, that has the price; unitsKey that of a ticket with the units that
// the inputs ask for.
const (
	priceKey = "price"
	unitsKey = "units"
)

// metadata is the price as a tool's metadata has it.
func (p Price) metadata() map[string]any {
	m := map[string]any{"usd": p.USD.String(), "per": p.Per}
	if p.Seconds != "" {
		m["seconds"] = p.Seconds.String()
	}
	return m
}

// priceOf is the price with which a tool was accepted.
func priceOf(tool registry.Tool) (Price, bool) {
	m, ok := tool.Metadata[priceKey].(map[string]any)
	if !ok {
		return Price{}, false
	}
	text := func(key string) json.Number { s, _ := m[key].(string); return json.Number(s) }
	per, _ := m["per"].(string)
	return Price{USD: text("usd"), Per: per, Seconds: text("seconds")}, true
}

// Quote is what a call of a model will cost by its inputs; empty where only the work tells.
func Quote(c registry.Call) registry.Price {
	price, known := priceOf(c.Tool)
	if !known || price.Per == PerHardwareSecond {
		return registry.Price{}
	}
	return registry.Price{CostUSD: price.times(price.asked(c.Inputs))}
}

// KeepPrice notes in a ticket what Usage needs.
func KeepPrice(c registry.Call, t *registry.Ticket) error {
	price, known := priceOf(c.Tool)
	if !known {
		return nil
	}
	raw, err := json.Marshal(price)
	if err != nil {
		return err
	}
	if t.Extra == nil {
		t.Extra = map[string]string{}
	}
	t.Extra[priceKey], t.Extra[unitsKey] = string(raw), price.asked(c.Inputs).RatString()
	return nil
}

// Usage is what a run has cost: by the units that the service itself counts, else by what it made, else by what was asked
// for.
func Usage(t registry.Ticket, outputs []registry.Output, counted string, usage registry.Usage) registry.Usage {
	var price Price
	if json.Unmarshal([]byte(t.Extra[priceKey]), &price) != nil || price.Per == PerHardwareSecond {
		return usage
	}
	units, ok := new(big.Rat).SetString(counted)
	if !ok || units.Sign() < 0 {
		if units, ok = price.made(outputs); !ok {
			if units, ok = new(big.Rat).SetString(t.Extra[unitsKey]); !ok {
				return usage
			}
		}
	}
	usage.CostUSD = price.times(units)
	return usage
}

func (p Price) times(units *big.Rat) string {
	rate, err := decimal.Parse(p.USD)
	if err != nil {
		return ""
	}
	return new(big.Rat).Mul(rate, units).FloatString(9)
}

// made counts what a run made; false: only its inputs tell.
func (p Price) made(outputs []registry.Output) (*big.Rat, bool) {
	count, pixels := int64(0), int64(0)
	for _, o := range outputs {
		if o.Type != "image" {
			continue
		}
		count++
		if o.Info.Width <= 0 || o.Info.Height <= 0 {
			pixels = -1 << 62
		}
		pixels += int64(o.Info.Width) * int64(o.Info.Height)
	}
	switch {
	case p.Per == PerImage && count > 0:
		return big.NewRat(count, 1), true
	case p.Per == PerMegapixel && pixels > 0:
		return big.NewRat(pixels, 1_000_000), true
	}
	return nil, false
}

// The inputs by which models take how many pictures, how long a video and how large a picture they make.
var (
	countInputs   = []string{"num_images", "num_outputs", "number_of_images", "n", "num_samples"}
	secondsInputs = []string{"duration", "duration_seconds", "seconds", "num_seconds", "video_length"}
	leadingNumber = regexp.MustCompile(`^\d+(\.\d+)?`)
	namedSizes    = map[string]int64{
		"square_hd": 1024 * 1024, "square": 512 * 512, "portrait_4_3": 768 * 1024, "portrait_16_9": 576 * 1024, "landscape_4_3": 1024 * 768, "landscape_16_9": 1024 * 576,
	}
)

const (
	usualPixels  = 1024 * 1024
	usualSeconds = 5
)

// asked are the units that inputs ask for.
func (p Price) asked(inputs map[string]any) *big.Rat {
	count := numberOf(inputs, countInputs, big.NewRat(1, 1))
	switch p.Per {
	case PerImage:
		return count
	case PerMegapixel:
		return count.Mul(count, big.NewRat(pixelsOf(inputs), 1_000_000))
	case PerSecond:
		usual := big.NewRat(usualSeconds, 1)
		if seconds, err := decimal.Parse(p.Seconds); err == nil {
			usual = seconds
		}
		return numberOf(inputs, secondsInputs, usual)
	}
	return big.NewRat(1, 1)
}

// numberOf is the first of the inputs that is a number, or begins with one, as in 5s.
func numberOf(inputs map[string]any, names []string, otherwise *big.Rat) *big.Rat {
	for _, name := range names {
		value, given := inputs[name]
		if !given || value == nil {
			continue
		}
		if n, ok := new(big.Rat).SetString(leadingNumber.FindString(fmt.Sprint(value))); ok && n.Sign() > 0 {
			return n
		}
	}
	return new(big.Rat).Set(otherwise)
}

func pixelsOf(inputs map[string]any) int64 {
	if name, named := inputs["image_size"].(string); named && namedSizes[name] > 0 {
		return namedSizes[name]
	}
	sized := inputs
	if own, isObject := inputs["image_size"].(map[string]any); isObject {
		sized = own
	}
	width, height := numberOf(sized, []string{"width"}, new(big.Rat)), numberOf(sized, []string{"height"}, new(big.Rat))
	if area := new(big.Rat).Mul(width, height); area.Sign() > 0 && area.IsInt() && area.Num().IsInt64() {
		return area.Num().Int64()
	}
	return usualPixels
}
