package main

import "github.com/signalbox/signalbox/platforms/words"

// maxBuyText bounds what /buy says, so that it fits into a message of every chat with the rest.
const maxBuyText = 1000

// buying is how people get more credit: what the operator says, and the ways there are.
func (c Config) buying() words.Buying {
	b := words.Buying{Text: c.BuyText}
	if c.BuyURL != "" {
		b.Ways = append(b.Ways, words.BuyingWay{URL: c.BuyURL})
	}
	return b
}
