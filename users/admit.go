package users

import "context"

// Admit lets an account in where only listed people may come, and does nothing elsewhere. By and note say who did so, and why.
func (s *Store) Admit(ctx context.Context, accountID, by, note string) error {
	if !s.listed() {
		return nil
	}
	return s.SetRule(ctx, Rule{Allow: true, Kind: RuleAccount, Subject: accountID, By: by, Note: note})
}

// CheckAccount is Check for somebody who comes by no chat, e.g. to the page.
func (s *Store) CheckAccount(ctx context.Context, a Account, platform, toolID string) (Decision, error) {
	return s.Check(ctx, Subject{AccountID: a.ID, Operator: a.Operator, Platform: platform}, toolID)
}

// judgeOthers is judge by the person's other identities: who is listed on one platform is no stranger on the others.
func (s *Store) judgeOthers(ctx context.Context, p *policy, who Subject) (Decision, error) {
	identities, err := s.Identities(ctx, who.AccountID)
	if err != nil {
		return Decision{}, err
	}
	keys := make([]ruleKey, len(identities))
	for i, one := range identities {
		keys[i] = ruleKey{kind: RuleIdentity, platform: one.Platform, subject: one.ExternalID}
	}
	allowed, _ := p.verdict(keys)
	return allowIf(allowed, ReasonStranger), nil
}

// listsIdentities reports whether somebody is let in everywhere by an identity.
func (p *policy) listsIdentities() bool {
	for key, allow := range p.rules {
		if allow && key.kind == RuleIdentity && key.where == (Place{}) {
			return true
		}
	}
	return false
}
