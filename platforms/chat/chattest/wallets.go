package chattest

import (
	"strings"
	"time"
)

// wallets are what groups pay for together.
func wallets() map[string]func(*scene) {
	return map[string]func(*scene){
		"a group has a wallet that sponsors fill, and who pays is said with the price": groupWallet,
		"those who run a group bound what its wallet spends":                           groupBudgets,
		"a party pays for everybody until its end, which is told":                      party,
		"what is left in a group's wallet goes back when the bot is removed":           walletLeft,
		"a wallet is about groups":                                                     walletAlone,
	}
}

// ben says something in a group.
func (s *scene) benSays(in Room, text string) {
	s.t.Helper()
	s.Harness.Post(s.t, Post{From: s.ben, In: in, Text: text})
}

// sponsored makes a group of Anna's with a wallet that has half a dollar of hers.
func (s *scene) sponsored() Room {
	s.t.Helper()
	group := s.group()
	if group.none() {
		return group
	}
	s.costing("0.05")
	s.sayIn(group, "/sponsor 0.5")
	m := s.AwaitText(group, "Give $0.50 of your credit to this group?")
	s.pressIn(group, m, "Give $0.50")
	s.AwaitText(group, "Anna gave $0.50 to this group.")
	return group
}

func groupWallet(s *scene) {
	group := s.sponsored()
	if group.none() {
		return
	}
	s.benSays(group, "/wallet")
	m := s.AwaitText(group, "The wallet of this group", "In it: $0.50.", "Each pays for themselves", "• Anna: $0.50")
	if m.Has("Only the group") {
		s.t.Error("somebody who does not run the group may say who pays")
	}
	s.benSays(group, "/painter a cat")
	s.AwaitText(group, "Price: $0.05", "You pay this yourself.")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.Idle()
	s.sayIn(group, "/chatsettings")
	m = s.Await(group, "settings", func(m Seen) bool { return m.Has("Wallet of the group") })
	s.pressIn(group, m, "Wallet of the group")
	s.pressIn(group, s.Await(group, "choices", func(m Seen) bool { return m.Has("✓ Member first") }), "Only the group")
	s.Await(group, "choice", func(m Seen) bool { return m.Has("✓ Only the group") })
	s.benSays(group, "/painter a dog")
	s.AwaitText(group, "Price: $0.05", "The group pays.")
	s.Succeed(s.Call(1), PictureOutput("picture"))
	s.Idle()
	s.sayIn(group, "/wallet")
	m = s.Await(group, "wallet", func(m Seen) bool {
		return m.contains("In it: $0.45.", "Only the group pays here.", "Spent today: $0.05.")
	})
	s.pressIn(group, m, "Close the wallet")
	m = s.AwaitText(group, "each by their share")
	s.pressIn(group, m, "Close the wallet")
	s.AwaitText(group, "The wallet is closed: $0.45 went back")
	s.say("/balance")
	s.AwaitText(s.room, "You have $0.95 to spend.")
	bens := s.by(s.ben, "/balance")
	s.AwaitText(bens, "You have $0.95 to spend.")
}

func groupBudgets(s *scene) {
	group := s.sponsored()
	if group.none() {
		return
	}
	s.benSays(group, "/wallet day 0.1")
	s.AwaitText(group, "Only those who run this chat")
	s.sayIn(group, "/wallet day lots")
	s.AwaitText(group, "0 lifts a bound")
	s.sayIn(group, "/wallet day 0.1")
	m := s.AwaitText(group, "Spent by the group today:", "of $0.10")
	s.pressIn(group, m, "Only the group")
	s.Await(group, "choice", func(m Seen) bool { return m.Has("✓ Only the group") })
	s.benSays(group, "/painter a cat")
	s.Call(0)
	s.benSays(group, "/painter a dog")
	s.AwaitText(group, "This group's budget is nearly used up.", "Spent by the group today: $0.10 of $0.10")
	s.Call(1)
	s.benSays(group, "/painter a bird")
	s.AwaitText(group, "This group's budget leaves no room for this.", "$0.10 of $0.10", "Nothing was charged")
	s.Handled()
	if n := s.CountRuns(); n != 2 {
		s.t.Errorf("%d runs", n)
	}
}

func party(s *scene) {
	group := s.group()
	if group.none() {
		return
	}
	s.costing("0.05")
	s.sayIn(group, "/party 0.5 forever")
	s.AwaitText(group, "/party 10 2h")
	s.sayIn(group, "/party 0.5 2h")
	m := s.AwaitText(group, "Give $0.50 of your credit to a party?", "120 minutes")
	s.pressIn(group, m, "Give $0.50")
	s.AwaitText(group, "Anna pays for everybody here with $0.50")
	s.benSays(group, "/painter a cat")
	s.AwaitText(group, "Price: $0.05", "The party pays.")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.Idle()
	s.Late.Store(int64(3 * time.Hour))
	if err := s.Groups.Tend(s.t.Context(), s.Router.PartyOver); err != nil {
		s.t.Fatal(err)
	}
	m = s.AwaitText(group, "The party is over: $0.05 of $0.50 were spent.")
	if !strings.Contains(m.Text, "$0.45 went back") {
		s.t.Errorf("what is left is not told: %s", m.Text)
	}
	s.say("/balance")
	s.AwaitText(s.room, "You have $0.95 to spend.")
}

func walletLeft(s *scene) {
	group := s.sponsored()
	if group.none() {
		return
	}
	extra[Expeller](s).Expel(s.t, s.anna, group)
	account := s.LastAccount().ID
	s.eventually("money back", func() bool {
		b, err := s.Ledger.Balance(s.t.Context(), account)
		return err == nil && b.Available == signupCredit
	})
}

func walletAlone(s *scene) {
	for _, command := range []string{"/wallet", "/sponsor 5", "/party 5 2h"} {
		s.say(command)
		s.AwaitText(s.room, "send it in a group")
	}
	s.noRun()
}
