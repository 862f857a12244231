package scene

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Token is a value that a design gives a name.
type Token struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// TokenSet is a set of tokens. Only those of active sets count, and of two with one name that of the later set.
type TokenSet struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Active bool    `json:"active"`
	Tokens []Token `json:"tokens"`
}

// TokenTypes are the kinds of tokens.
func TokenTypes() []string {
	return []string{"color", "borderRadius", "sizing", "dimension", "spacing", "opacity", "rotation", "strokeWidth", "number", "fontFamilies", "fontSizes",
		"fontWeights", "letterSpacing", "lineHeight", "textCase", "textDecoration", "shadow", "typography"}
}

// TokenAttributes are what a token can be applied to.
func TokenAttributes() []string {
	return []string{"fill", "stroke-color", "p1", "p2", "p3", "p4", "row-gap", "column-gap", "m1", "m2", "m3", "m4", "width", "height", "opacity", "r1", "r2", "r3", "r4",
		"rotation", "line-height", "font-size", "font-family", "font-weight", "letter-spacing", "text-case", "text-decoration"}
}

func readToken(at string, t Token) error {
	if strings.TrimSpace(t.Name) == "" {
		return wrong(at+".name", "is empty")
	}
	if strings.TrimSpace(t.Value) == "" {
		return wrong(at+".value", "is empty")
	}
	if t.Type == "color" {
		if _, err := Color(at+".value", t.Value); err != nil {
			return err
		}
	}
	return oneOf(at+".type", t.Type, TokenTypes()...)
}

// CreateTokenSet adds a set.
func (s *Scene) CreateTokenSet(name string, tokens []Token, active bool) (TokenSet, error) {
	if slices.ContainsFunc(s.Page.Sets, func(set TokenSet) bool { return set.Name == name }) {
		return TokenSet{}, wrong("name", "there is a token set %q already", name)
	}
	seen := map[string]bool{}
	for i, t := range tokens {
		at := fmt.Sprintf("tokens[%d]", i)
		if err := readToken(at, t); err != nil {
			return TokenSet{}, err
		}
		if seen[t.Name] {
			return TokenSet{}, wrong(at+".name", "is %q a second time", t.Name)
		}
		seen[t.Name] = true
	}
	set := TokenSet{uuid.NewString(), name, active, slices.Clone(tokens)}
	page := s.editPage()
	page.Sets = append(slices.Clone(page.Sets), set)
	return set, nil
}

// editSet gives a set to change.
func (s *Scene) editSet(id string) (*TokenSet, error) {
	page := s.editPage()
	page.Sets = slices.Clone(page.Sets)
	for i := range page.Sets {
		if page.Sets[i].ID == id {
			page.Sets[i].Tokens = slices.Clone(page.Sets[i].Tokens)
			return &page.Sets[i], nil
		}
	}
	return nil, wrong("setId", "there is no token set %q", id)
}

// ActivateTokenSet makes a set count, and, where it is to be the only one, no other.
func (s *Scene) ActivateTokenSet(id string, exclusive bool) (TokenSet, error) {
	set, err := s.editSet(id)
	if err != nil {
		return TokenSet{}, err
	}
	for i := range s.Page.Sets {
		s.Page.Sets[i].Active = s.Page.Sets[i].Active && !exclusive
	}
	set.Active = true
	return *set, nil
}

// RemoveTokenSet takes a set away.
func (s *Scene) RemoveTokenSet(id string) (TokenSet, error) {
	set, err := s.editSet(id)
	if err != nil {
		return TokenSet{}, err
	}
	gone := *set
	s.Page.Sets = slices.DeleteFunc(s.Page.Sets, func(one TokenSet) bool { return one.ID == id })
	return gone, nil
}

// TokenChange is what becomes of a token. Empty members leave it as it is; a name that is new makes one.
type TokenChange struct {
	Name    string `json:"name"`
	NewName string `json:"newName"`
	Type    string `json:"type"`
	Value   string `json:"value"`
}

// ModifyTokenSet changes, adds and removes tokens of a set.
func (s *Scene) ModifyTokenSet(id string, changes []TokenChange, remove []string) (TokenSet, error) {
	set, err := s.editSet(id)
	if err != nil {
		return TokenSet{}, err
	}
	for i, name := range remove {
		kept := slices.DeleteFunc(slices.Clone(set.Tokens), func(t Token) bool { return t.Name == name })
		if len(kept) == len(set.Tokens) {
			return TokenSet{}, wrong(fmt.Sprintf("tokensToRemove[%d]", i), "there is no token %q", name)
		}
		set.Tokens = kept
	}
	for i, c := range changes {
		at := slices.IndexFunc(set.Tokens, func(t Token) bool { return t.Name == c.Name })
		if at < 0 {
			set.Tokens = append(set.Tokens, Token{Name: c.Name})
			at = len(set.Tokens) - 1
		}
		t := &set.Tokens[at]
		for to, v := range map[*string]string{&t.Name: c.NewName, &t.Type: c.Type, &t.Value: c.Value} {
			if v != "" {
				*to = v
			}
		}
		if err := readToken(fmt.Sprintf("tokensToModify[%d]", i), *t); err != nil {
			return TokenSet{}, err
		}
	}
	return *set, nil
}

// Assignment applies a token to an attribute.
type Assignment struct {
	TokenName string `json:"tokenName"`
	Attr      string `json:"attr"`
}

// token finds the token of a name that counts.
func (s *Scene) token(name string) (found Token, ok bool) {
	for _, set := range s.Page.Sets {
		for _, t := range set.Tokens {
			if set.Active && t.Name == name {
				found, ok = t, true
			}
		}
	}
	return found, ok
}

// ApplyTokens gives shapes the values of tokens, and keeps the tokens' names with them.
func (s *Scene) ApplyTokens(ids []string, assignments []Assignment) ([]*Shape, error) {
	shapes, err := s.findAll("shapeIds", ids, 1)
	if err != nil {
		return nil, err
	}
	for i, a := range assignments {
		at := fmt.Sprintf("assignments[%d].", i)
		if err := oneOf(at+"attr", a.Attr, TokenAttributes()...); err != nil {
			return nil, err
		}
		t, ok := s.token(a.TokenName)
		if !ok {
			return nil, wrong(at+"tokenName", "there is no token %q in an active set", a.TokenName)
		}
		for _, sh := range shapes {
			s.edit(sh)
			if err := s.applyToken(sh, a.Attr, t); err != nil {
				return nil, err
			}
		}
	}
	s.fit(shapes...)
	return shapes, nil
}

func (s *Scene) applyToken(sh *Shape, attribute string, t Token) error {
	p, err := tokenProps(sh, attribute, t.Value)
	if err != nil {
		return err
	}
	if err := s.apply(sh, p); err != nil {
		return err
	}
	tokens := map[string]string{attribute: t.Name}
	for a, name := range sh.Tokens {
		if a != attribute {
			tokens[a] = name
		}
	}
	sh.Tokens = tokens
	return nil
}

// layoutTokens are the members of a layout that tokens give. Sides are clockwise from the top.
var layoutTokens = map[string]string{
	"row-gap": "rowGap", "column-gap": "columnGap", "p1": "topPadding", "p2": "rightPadding", "p3": "bottomPadding", "p4": "leftPadding",
	"m1": "topMargin", "m2": "rightMargin", "m3": "bottomMargin", "m4": "leftMargin",
}

// layoutProps gives a member of a layout its value. Gaps and paddings of what lays nothing out are only kept by the token's name.
func layoutProps(sh *Shape, member string, value float64) (p Props) {
	said := json.RawMessage(fmt.Sprintf(`{%q: %g}`, member, value))
	switch {
	case strings.HasSuffix(member, "Margin"):
		p.LayoutChild = said
	case sh.Layout["flex"] != nil:
		p.Flex = said
	case sh.Layout["grid"] != nil:
		p.Grid = said
	}
	return p
}

// tokenProps says what a token's value means for an attribute.
func tokenProps(sh *Shape, attribute, value string) (p Props, err error) {
	word := Word(value)
	switch attribute {
	case "fill":
		p.Fills = &[]Fill{{Color: value, Opacity: 1}}
		return p, nil
	case "stroke-color":
		strokes := slices.Clone(sh.Strokes)
		if len(strokes) == 0 {
			strokes = []Stroke{{Opacity: 1, Style: "solid", Width: 1}}
		}
		strokes[0].Color = value
		p.Strokes = &strokes
		return p, nil
	case "font-family":
		p.FontFamily = &value
		return p, nil
	case "font-weight":
		p.FontWeight = &word
		return p, nil
	case "text-case":
		p.TextTransform = &value
		return p, nil
	case "text-decoration":
		p.TextDecoration = &value
		return p, nil
	}
	number, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSuffix(value, "px"), "%"), 64)
	if err != nil {
		return p, wrong("assignments", "the token's value %q is no number, which %s needs", value, attribute)
	}
	if strings.HasSuffix(value, "%") {
		number /= 100
	}
	if member, ok := layoutTokens[attribute]; ok {
		return layoutProps(sh, member, number), nil
	}
	figure := Figure(number)
	if field, ok := map[string]**float64{
		"width": &p.Width, "height": &p.Height, "opacity": &p.Opacity, "rotation": &p.Rotation, "r1": &p.BorderRadiusTopLeft, "r2": &p.BorderRadiusTopRight,
		"r3": &p.BorderRadiusBottomRight, "r4": &p.BorderRadiusBottomLeft,
	}[attribute]; ok {
		*field = &number
	}
	if field, ok := map[string]**Figure{"font-size": &p.FontSize, "line-height": &p.LineHeight, "letter-spacing": &p.LetterSpacing}[attribute]; ok {
		*field = &figure
	}
	return p, nil
}
