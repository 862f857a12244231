package account

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"golang.org/x/oauth2"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// DiscordLogin is what signing in with Discord needs: an application whose redirects name
// PUBLIC_URL/signin/discord/back.
type DiscordLogin struct {
	ClientID     string
	ClientSecret string
	API          *url.URL // e.g. https://discord.com/api/v10
	Client       *http.Client
}

// discordTime bounds what is asked of Discord while somebody waits.
const discordTime = 10 * time.Second

// discord is signing in with Discord.
type discord struct {
	shared
	login   DiscordLogin
	linking *linking
}

func (s *discord) routes() []door.Route {
	return []door.Route{
		door.ForVisitors("GET /signin/discord", s.begin),
		door.ForVisitors("GET /signin/discord/back", s.end),
	}
}

func (s *discord) oauth(r *http.Request) *oauth2.Config {
	d := s.login
	authorize := url.URL{Scheme: d.API.Scheme, Host: d.API.Host, Path: "/oauth2/authorize"}
	return &oauth2.Config{
		ClientID: d.ClientID, ClientSecret: d.ClientSecret, Scopes: []string{"identify"}, RedirectURL: s.door.Site.Absolute(r, "/signin/discord/back"),
		Endpoint: oauth2.Endpoint{AuthURL: authorize.String(), TokenURL: d.API.JoinPath("oauth2/token").String(), AuthStyle: oauth2.AuthStyleInHeader},
	}
}

// begin leads to Discord's page for signing in (authorization code with PKCE).
func (s *discord) begin(w http.ResponseWriter, r *http.Request) error {
	state, err := s.beginSignin(w, wayDiscord, oauth2.GenerateVerifier(), r.FormValue("next"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, s.oauth(r).AuthCodeURL(state.State, oauth2.S256ChallengeOption(state.Verifier)), http.StatusSeeOther)
	return nil
}

// end takes Discord's answer.
func (s *discord) end(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	state, err := s.endSignin(w, r, wayDiscord, q.Get("state"))
	if err != nil {
		return err
	}
	if q.Has("error") { // the person said no
		http.Redirect(w, r, "/signin", http.StatusSeeOther)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), oauth2.HTTPClient, s.login.Client), discordTime)
	defer cancel()
	who, err := s.identity(ctx, s.oauth(r), q.Get("code"), state.Verifier)
	if err != nil {
		s.log.Warn("signing in with Discord failed", "error", err)
		return registry.Errorf(registry.CodeUnavailable, "Discord did not confirm who you are; start signing in again")
	}
	return s.linking.arrive(w, r, who, wayDiscord, state.Next)
}

var snowflake = regexp.MustCompile(`^[0-9]{1,20}$`)

// identity trades the code for a token and asks Discord whose it is. The token must be for our
// application.
func (s *discord) identity(ctx context.Context, c *oauth2.Config, code, verifier string) (users.Identity, error) {
	token, err := c.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return users.Identity{}, fmt.Errorf("trading the code: %w", withoutBody(err))
	}
	var answer struct {
		Application struct {
			ID string `json:"id"`
		} `json:"application"`
		User struct {
			ID         string `json:"id"`
			Username   string `json:"username"`
			GlobalName string `json:"global_name"`
		} `json:"user"`
	}
	if err := getJSON(ctx, c.Client(ctx, token), s.login.API.JoinPath("oauth2/@me").String(), &answer); err != nil {
		return users.Identity{}, err
	}
	if answer.Application.ID != c.ClientID {
		return users.Identity{}, fmt.Errorf("the token is for application %q, expected %q", answer.Application.ID, c.ClientID)
	}
	if !snowflake.MatchString(answer.User.ID) {
		return users.Identity{}, fmt.Errorf("the user's id is not a number")
	}
	name := cmp.Or(answer.User.GlobalName, answer.User.Username)
	return users.Identity{Platform: wayDiscord, ExternalID: answer.User.ID, Name: name, Handle: answer.User.Username}, nil
}

// withoutBody keeps of an error of the token endpoint its status alone: the body may hold what we sent.
func withoutBody(err error) error {
	if refused, ok := err.(*oauth2.RetrieveError); ok {
		return fmt.Errorf("status %d, %s", refused.Response.StatusCode, refused.ErrorCode)
	}
	return err
}

const maxAnswer = 1 << 20

func getJSON(ctx context.Context, client *http.Client, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", address, res.StatusCode)
	}
	return json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(into)
}
