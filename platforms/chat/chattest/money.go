package chattest

import (
	"encoding/json"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// spendsFreely has Anna asked about no price.
func (s *scene) spendsFreely() {
	s.t.Helper()
	s.say("/balance")
	s.AwaitText(s.room, "to spend")
	if err := s.People.SetConfirmPercent(s.t.Context(), s.LastAccount().ID, users.NeverConfirm); err != nil {
		s.t.Fatal(err)
	}
}

// costing sets what a run of the painter costs, in dollars.
func (s *scene) costing(dollars string) {
	s.t.Helper()
	dear := PainterTool()
	dear.CostingModel = &registry.CostingModel{Rate: json.Number(dollars), Unit: registry.UnitRequest, RateSource: registry.RateStatic}
	s.Loader.Set(dear)
	s.Reload()
}

func asksAboutPrices(s *scene) {
	s.costing("0.2")
	s.say("/painter a cat")
	m := s.labelled("Go ahead", "Painter", "Price: $0.20", "You have $1.00 to spend.", "more than 10 % of what you have")
	s.Handled()
	if n := len(s.Provider.Calls()); n != 0 {
		s.t.Fatalf("%d runs began before anybody said so", n)
	}
	s.press(m, "Go ahead")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	m = s.AwaitMedia(s.room, "Painter", "$0.20")
	s.Idle()
	s.press(m, "Again")
	s.labelled("Go ahead", "You have $0.80 to spend.")
}

func askingIsASetting(s *scene) {
	s.costing("0.2")
	s.say("/settings")
	m := s.labelled("Ask before I spend")
	s.press(m, "Ask before I spend")
	m = s.labelled("✓ 10 %", "more than 10 % of what you have")
	s.press(m, "25 %")
	s.labelled("✓ 25 %", "more than 25 % of what you have")
	s.say("/painter a cat")
	s.Call(0)
}

func pricesAndCredit(s *scene) {
	s.costing("0.05")
	s.say("/help painter")
	s.AwaitText(s.room, "Price: $0.05", "You have $1.00 to spend.")
	s.say("/price painter")
	s.AwaitText(s.room, "Painter\nPrice: $0.05\nYou have $1.00 to spend.")
}

func receiptOnDemand(s *scene) {
	m := s.painted()
	if strings.Contains(m.Text, "0.0042") {
		s.t.Errorf("the result is told with the exact figure:\n%s", m.Text)
	}
	answer := s.press(m, "Receipt")
	if !strings.Contains(answer.Text, "$0.0042") || !strings.Contains(answer.Text, "Code for support") {
		s.t.Errorf("the receipt says %q", answer.Text)
	}
}

func buying(s *scene) {
	s.say("/buy")
	s.AwaitText(s.room, "You have $1.00 to spend.", "can't be bought here yet", "Ask whoever runs this bot")
}
