package words

import (
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
)

// PartPrice tells the most that a part of a call may cost.
func PartPrice(v i18n.Voice, part registry.Part) string {
	most, err := billing.ParseUSD(part.CostUSD)
	switch {
	case err != nil: // it is ours, and a number
		return "$" + part.CostUSD
	case most == 0:
		return v.Line("price.free")
	}
	return v.Line("price.exact", "price", v.Between(most, most))
}
