package users

import "testing"

func TestListedPeopleOnThePage(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{Listed: true})
	ctx := t.Context()
	may := func(a Account) bool {
		t.Helper()
		d, err := s.CheckAccount(ctx, a, "web", "tool")
		if err != nil {
			t.Fatal(err)
		}
		return d.Allowed
	}
	stranger := identify(t, s, Identity{Platform: "web", ExternalID: "1"})
	guest := identify(t, s, Identity{Platform: "web", ExternalID: "2"})
	chatter := identify(t, s, Identity{Platform: "telegram", ExternalID: "3"})
	if err := s.Admit(ctx, guest.ID, BySystem, "invitation"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetRule(ctx, Rule{Allow: true, Kind: RuleIdentity, Platform: "telegram", Subject: "3", By: BySystem}); err != nil {
		t.Fatal(err)
	}
	if may(stranger) || !may(guest) || !may(chatter) {
		t.Errorf("stranger %v, guest %v, chatter %v", may(stranger), may(guest), may(chatter))
	}
	t.Run("who is listed by one identity is no stranger in the chats of another", func(t *testing.T) {
		for account, want := range map[string]bool{chatter.ID: true, stranger.ID: false} {
			d, err := s.Check(ctx, Subject{AccountID: account, Platform: "discord", ExternalID: "9", Chat: "1"}, "tool")
			if err != nil || d.Allowed != want {
				t.Errorf("%+v, %v, want %v", d, err, want)
			}
		}
	})
	if err := s.Block(ctx, chatter.ID, BySystem, "rude"); err != nil {
		t.Fatal(err)
	}
	if may(chatter) {
		t.Error("who is blocked may come by an identity that is listed")
	}
	t.Run("where everybody may come nobody is listed", func(t *testing.T) {
		open, _ := newStore(t, Config{})
		a := identify(t, open, Identity{Platform: "web", ExternalID: "1"})
		if err := open.Admit(ctx, a.ID, BySystem, ""); err != nil {
			t.Fatal(err)
		}
		if rules, err := open.Rules(ctx, Place{}); err != nil || len(rules) != 0 {
			t.Errorf("%v, %v", rules, err)
		}
	})
}
