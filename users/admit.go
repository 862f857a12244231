package users

import (
	"context"
	"fmt"
)

// Admit lets an account in where only listed people may come, and does nothing elsewhere. By and note say who did so, and why.
func (s *Store) Admit(ctx context.Context, accountID, by, note string) error {
	if !s.config.Listed {
		return nil
	}
	return s.SetRule(ctx, Rule{Allow: true, Kind: RuleAccount, Subject: accountID, By: by, Note: note})
}

// CheckAccount is Check for somebody who comes by no chat, e.g. to the page. Who is listed by an identity on
// some platform is no stranger there either.
func (s *Store) CheckAccount(ctx context.Context, a Account, platform, toolID string) (Decision, error) {
	decision, err := s.Check(ctx, Subject{AccountID: a.ID, Operator: a.Operator, Platform: platform}, toolID)
	if err != nil || decision.Reason != ReasonStranger {
		return decision, err
	}
	identities, err := s.Identities(ctx, a.ID)
	if err != nil {
		return Decision{}, fmt.Errorf("check access: %w", err)
	}
	for _, i := range identities {
		known, err := s.Check(ctx, Subject{AccountID: a.ID, Platform: i.Platform, ExternalID: i.ExternalID}, toolID)
		if err != nil || known.Allowed {
			return known, err
		}
	}
	return decision, nil
}
