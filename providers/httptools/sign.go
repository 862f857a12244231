package httptools

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

var (
	variable   = regexp.MustCompile(`\$\{(\w+)\}`)
	secretName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*_(KEY|TOKEN|SECRET)$`)
	// inBodies are the secrets of bodies, in which whatever else looks like a variable is text.
	inBodies = regexp.MustCompile(`\$\{([A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET))\}`)
)

// ownSecrets are the program's: no file may send them anywhere.
var ownSecrets = regexp.MustCompile(`^(ADMIN|TELEGRAM|DISCORD|DATABASE)_`)

// jwtName is the variable that a spec's signed token goes by.
const jwtName = "jwt"

// unsetError says that a secret is not there.
type unsetError struct{ name string }

// Error names the variable.
func (e unsetError) Error() string { return "${" + e.name + "} is not set in the environment" }

// secretOf reads a secret of the environment by its name.
func (t *Tools) secretOf(name string) (string, error) { return readSecret(name, t.cfg.Lookup) }

func readSecret(name string, lookup func(string) (string, bool)) (string, error) {
	if !secretName.MatchString(name) || ownSecrets.MatchString(name) {
		return "", fmt.Errorf("${%s} can't be used: the name must end in _KEY, _TOKEN or _SECRET and not be one of the program's own", name)
	}
	secret, set := lookup(name)
	if !set || secret == "" {
		return "", unsetError{name}
	}
	return secret, nil
}

// fillSecrets puts secrets into a text of a file, for what is a variable in it.
func fillSecrets(text string, variable *regexp.Regexp, secret func(string) (string, error)) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var wrong error
	filled := variable.ReplaceAllStringFunc(text, func(found string) string {
		value, err := secret(variable.FindStringSubmatch(found)[1])
		if err != nil {
			wrong = err
		}
		return value
	})
	return filled, wrong
}

// variables are the names of all secrets that a spec has a place for.
func (s spec) variables() []string {
	account, err := json.Marshal([]any{s.Headers, s.Query, s.JWT, s.Callback})
	if err != nil {
		return nil
	}
	found := variable.FindAllSubmatch(account, -1)
	steps := []*request{&s.Submit, s.Poll, s.Result, s.Cancel}
	if s.Upload != nil {
		for i := range s.Upload.Steps {
			steps = append(steps, &s.Upload.Steps[i])
		}
	}
	for _, step := range steps {
		if step != nil {
			found = append(found, inBodies.FindAllSubmatch([]byte(step.text()), -1)...)
		}
	}
	var names []string
	for _, m := range found {
		if name := string(m[1]); name != jwtName && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// jwt says how a spec's ${jwt} is made: a JSON Web Token (RFC 7519) with the claims iss, exp and nbf, signed by HS256 (RFC 7518, 3.2).
type jwt struct {
	Issuer  string `json:"issuer"`            // such as ${KLING_ACCESS_KEY}
	Secret  string `json:"secret"`            // such as ${KLING_SECRET_KEY}
	Minutes int    `json:"minutes,omitempty"` // for which it holds; zero: 30
}

// The claims leave room for clocks that differ, and a token is renewed well before it ends.
const (
	jwtMinutes = 30
	jwtBefore  = 5 * time.Second
	jwtHeader  = `{"alg":"HS256","typ":"JWT"}`
)

func (j jwt) life() time.Duration {
	if j.Minutes == 0 {
		return jwtMinutes * time.Minute
	}
	return time.Duration(j.Minutes) * time.Minute
}

// sign makes a token that holds from now.
func (j jwt) sign(now time.Time, secret func(string) (string, error)) (string, error) {
	issuer, err := fillSecrets(j.Issuer, variable, secret)
	if err != nil {
		return "", err
	}
	key, err := fillSecrets(j.Secret, variable, secret)
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{"iss": issuer, "exp": now.Add(j.life()).Unix(), "nbf": now.Add(-jwtBefore).Unix()})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(jwtHeader)) + "." + encode(claims)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil)), nil
}

// signer adds an account's keys to requests, and keeps its token until that is nearly over.
type signer struct {
	tools *Tools
	spec  spec

	mu      sync.Mutex
	token   string
	renewAt time.Time
}

// secret is what a variable of the account stands for.
func (s *signer) secret(name string) (string, error) {
	if name != jwtName || s.spec.JWT == nil {
		return s.tools.secretOf(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.tools.cfg.Now()
	if s.token != "" && now.Before(s.renewAt) {
		return s.token, nil
	}
	token, err := s.spec.JWT.sign(now, s.tools.secretOf)
	if err == nil {
		s.token, s.renewAt = token, now.Add(s.spec.JWT.life()*5/6)
	}
	return token, err
}

// hide takes the token out of a text.
func (s *signer) hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == "" {
		return text
	}
	return strings.ReplaceAll(text, s.token, "***")
}

// authorize sets a spec's headers and query. Its secrets were there when the file was read; one that has
// gone since leaves an empty value, which the service refuses.
func (s *signer) authorize(r *http.Request) {
	for name, value := range s.spec.Headers {
		filled, _ := fillSecrets(value, variable, s.secret)
		r.Header.Set(name, filled)
	}
	if len(s.spec.Query) == 0 {
		return
	}
	query := r.URL.Query()
	for name, value := range s.spec.Query {
		filled, _ := fillSecrets(value, variable, s.secret)
		query.Set(name, filled)
	}
	r.URL.RawQuery = query.Encode()
}
