package words

import (
	"net/url"
	"strings"
)

// Buying is how people get more credit, as cmd/signalbox puts it together: what the operator says, and the ways there are. Chats (/buy) and
// pages (/buy) draw it alike. The zero value has nothing to say; then people are told whom to ask.
type Buying struct {
	Text string // the operator's words, empty: none
	Ways []BuyingWay
	// Seller sells credit here; nil: nobody does.
	Seller Seller
}

// BuyingWay is one way to get credit: a page that leads there.
type BuyingWay struct {
	Label string // empty: the host of the page
	URL   string
}

// Name is what a way is called.
func (w BuyingWay) Name() string {
	if w.Label != "" {
		return w.Label
	}
	if u, err := url.Parse(w.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return w.URL
}

// Offers are what is sold on a platform.
func (b Buying) Offers(platform, language string) []Offer {
	if b.Seller == nil {
		return nil
	}
	return b.Seller.Offers(platform, language)
}

// Elsewhere names, in one line, where else than on a platform something is sold; "": nowhere.
func (b Buying) Elsewhere(platform string) string {
	if b.Seller == nil {
		return ""
	}
	return strings.Join(b.Seller.Elsewhere(platform), ", ")
}

// Offered reports whether there is anything to say.
func (b Buying) Offered() bool { return b.Text != "" || len(b.Ways) > 0 }
