package main

import "github.com/signalbox/signalbox/platforms/words"

// maxBuyText bounds what /buy says, so that it fits into a message of every chat with the rest.
const maxBuyText = 1000

// buying is how people get more credit: what the operator says, and the ways there are.
func (h *house) buying() words.Buying {
	b := words.Buying{Text: h.rules.value(buySetting)}
	if h.cfg.BuyURL != "" {
		b.Ways = append(b.Ways, words.BuyingWay{URL: h.cfg.BuyURL})
	}
	return b
}
