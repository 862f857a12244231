package payments

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/billing"
)

// Kind is how a product is paid.
type Kind string

// The kinds of products.
const (
	Pack         Kind = "pack"         // paid once
	Subscription Kind = "subscription" // paid each month, with credit each time
)

// XTR is the currency of Telegram's Stars.
const XTR = "XTR"

// Words is a text in languages, by their codes (BCP 47, the base only). In a file it is one text, which is English, or an object.
type Words map[string]string

// UnmarshalJSON reads either form.
func (w *Words) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*w = Words{"en": one}
		return nil
	}
	return json.Unmarshal(data, (*map[string]string)(w))
}

// In gives the text in a language, else in English, else in any.
func (w Words) In(language string) string {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	for _, code := range append([]string{base, "en"}, slices.Sorted(maps.Keys(w))...) {
		if text := w[code]; text != "" {
			return text
		}
	}
	return ""
}

// Product is something that can be bought: credit.
type Product struct {
	ID      string
	Name    Words
	Text    Words // what it is, in a sentence; may be empty
	Kind    Kind
	Credit  billing.NanoUSD
	Prices  map[string]int64 // by currency, in its smallest unit
	Discord []string         // ids of Discord's SKUs that are this product
	Link    string           // a Payment Link of Stripe, used instead of a checkout of our own
	Tax     []string         // lines for the receipt, such as "incl. 19 % VAT"
}

// Products are the operator's products, in the order of the file.
type Products []Product

// ByID finds a product.
func (p Products) ByID(id string) (Product, bool) {
	return p.find(func(one Product) bool { return one.ID == id })
}

// BySKU finds what a SKU of Discord is.
func (p Products) BySKU(sku string) (Product, bool) {
	return p.find(func(one Product) bool { return slices.Contains(one.Discord, sku) })
}

func (p Products) find(is func(Product) bool) (Product, bool) {
	i := slices.IndexFunc(p, is)
	if i < 0 {
		return Product{}, false
	}
	return p[i], true
}

// productFile is PRODUCTS_FILE.
type productFile struct {
	Products []productSpec `json:"products"`
}

type productSpec struct {
	ID      string                 `json:"id"`
	Name    Words                  `json:"name"`
	Text    Words                  `json:"text"`
	Kind    Kind                   `json:"kind"`
	Credit  json.Number            `json:"credit"` // US dollars
	Prices  map[string]json.Number `json:"prices"` // in whole units of the currency
	Discord []string               `json:"discord"`
	Link    string                 `json:"link"`
	Tax     []string               `json:"tax"`
}

// ParseProducts reads a file of products, YAML or JSON. Unknown names are refused.
func ParseProducts(data []byte) (Products, error) {
	raw, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, fmt.Errorf("read the products: %w", err)
	}
	var file productFile
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("read the products: %w", err)
	}
	var all Products
	for i, spec := range file.Products {
		p, err := spec.product()
		if err == nil {
			err = all.clash(p)
		}
		if err != nil {
			return nil, fmt.Errorf("product %d (%q): %w", i+1, spec.ID, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func (p Products) clash(next Product) error {
	if _, taken := p.ByID(next.ID); taken {
		return errors.New("the id is another product's")
	}
	for _, sku := range next.Discord {
		if other, taken := p.BySKU(sku); taken {
			return fmt.Errorf("the SKU %s is that of %q", sku, other.ID)
		}
	}
	return nil
}

var (
	productID  = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`)
	snowflake  = regexp.MustCompile(`^[0-9]{1,20}$`)
	paymentURL = regexp.MustCompile(`^https?://[^\s?#]+$`)
)

const (
	maxName         = 32     // of an invoice of Telegram
	maxText         = 255    // likewise
	maxStars        = 100000 // of one invoice
	maxStarsMonthly = 10000  // of a subscription
	maxPrice        = 1e12   // in the smallest unit
)

func (s productSpec) product() (Product, error) {
	p := Product{ID: s.ID, Name: s.Name, Text: s.Text, Kind: s.Kind, Discord: s.Discord, Link: s.Link, Tax: s.Tax, Prices: make(map[string]int64)}
	p.Kind = cmp.Or(p.Kind, Pack)
	switch {
	case !productID.MatchString(s.ID):
		return p, errors.New("the id is 1 to 32 small letters, digits, - and _, beginning with a letter or digit")
	case p.Kind != Pack && p.Kind != Subscription:
		return p, fmt.Errorf("the kind is %q; expected pack or subscription", s.Kind)
	case p.Name.In("en") == "":
		return p, errors.New("it has no name")
	case s.Link != "" && !paymentURL.MatchString(s.Link):
		return p, fmt.Errorf("the link %q is no address without a query", s.Link)
	case len(s.Prices)+len(s.Discord) == 0:
		return p, errors.New("it has no prices and no SKU of Discord")
	case slices.ContainsFunc(s.Discord, func(sku string) bool { return !snowflake.MatchString(sku) }):
		return p, errors.New("a SKU of Discord is a number in quotes")
	}
	for _, words := range []struct {
		texts Words
		most  int
	}{{s.Name, maxName}, {s.Text, maxText}} {
		for language, text := range words.texts {
			if len([]rune(text)) > words.most {
				return p, fmt.Errorf("the text in %q has more than %d characters", language, words.most)
			}
		}
	}
	var err error
	if p.Credit, err = billing.ParseUSD(s.Credit.String()); err != nil || p.Credit <= 0 || p.Credit > billing.MaxAmount {
		return p, fmt.Errorf("the credit %q is no positive amount of US dollars", s.Credit)
	}
	for currency, price := range s.Prices {
		if p.Prices[currency], err = smallest(currency, price.String()); err != nil {
			return p, err
		}
	}
	if stars := p.Prices[XTR]; stars > maxStars || p.Kind == Subscription && stars > maxStarsMonthly {
		return p, fmt.Errorf("%d Stars are more than Telegram takes: %d once, %d monthly", stars, maxStars, maxStarsMonthly)
	}
	return p, nil
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// decimals is how many decimals a currency's amounts have where they are counted in its smallest unit, as Stripe has it
// (https://docs.stripe.com/currencies); Stars are whole.
func decimals(currency string) int {
	const none, three = " BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF XTR ", " BHD JOD KWD OMR TND "
	switch code := " " + currency + " "; {
	case strings.Contains(none, code):
		return 0
	case strings.Contains(three, code):
		return 3
	}
	return 2
}

// smallest reads an exact amount in whole units.
func smallest(currency, text string) (int64, error) {
	amount, ok := new(big.Rat).SetString(text)
	if !ok || !currencyCode.MatchString(currency) || len(text) > 20 {
		return 0, fmt.Errorf("the price %s %q is no amount and a currency of three capital letters", currency, text)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals(currency))), nil)
	amount.Mul(amount, new(big.Rat).SetInt(scale))
	if !amount.IsInt() || amount.Sign() <= 0 || amount.Cmp(big.NewRat(maxPrice, 1)) > 0 {
		return 0, fmt.Errorf("the price %s %s is not positive, too high, or finer than %d decimals", currency, text, decimals(currency))
	}
	return amount.Num().Int64(), nil
}

// Price writes an amount of the smallest unit: "4.99 EUR", "250 Stars" as Telegram calls them; "" without a currency.
func Price(amount int64, currency string) string {
	switch currency {
	case "":
		return ""
	case XTR:
		return strconv.FormatInt(amount, 10) + " Stars"
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals(currency))), nil)
	return new(big.Rat).SetFrac(big.NewInt(amount), scale).FloatString(decimals(currency)) + " " + currency
}
