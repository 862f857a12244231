package buckettest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What the store knows, and who may use it.
const (
	Bucket          = "house"
	Region          = "eu-test-1"
	AccessKeyID     = "AKHOUSE"
	SecretAccessKey = "secret/of+the=house"
	// SmallestPart is what a part has at least, but for the last, as in S3.
	SmallestPart = 5 << 20
)

const (
	algorithm  = "AWS4-HMAC-SHA256"
	stamp      = "20060102T150405Z"
	skew       = 15 * time.Minute
	unsigned   = "UNSIGNED-PAYLOAD"
	longestURL = 7 * 24 * time.Hour
)

// signed is what a request says of its signature.
type signed struct {
	credential, headers, signature, date, payload string
	query                                         url.Values // without the signature
	life                                          time.Duration
}

// verify checks the signature of a request as "Authenticating Requests (AWS Signature Version 4)" in the manual of S3 has it.
func verify(r *http.Request, now time.Time) error {
	s, err := read(r)
	if err != nil {
		return err
	}
	made, err := time.Parse(stamp, s.date)
	if err != nil {
		return fmt.Errorf("date %q: %w", s.date, err)
	}
	if now.After(made.Add(s.life)) || made.After(now.Add(skew)) {
		return fmt.Errorf("it was signed at %s and is not good any more", s.date)
	}
	scope := strings.Join([]string{s.date[:8], Region, "s3", "aws4_request"}, "/")
	if s.credential != AccessKeyID+"/"+scope {
		return fmt.Errorf("credential %q is not %s/%s", s.credential, AccessKeyID, scope)
	}
	request, err := canonical(r, s)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(request))
	text := strings.Join([]string{algorithm, s.date, scope, hex.EncodeToString(sum[:])}, "\n")
	key := []byte("AWS4" + SecretAccessKey)
	for step := range strings.SplitSeq(scope, "/") {
		key = mac(key, step)
	}
	if !hmac.Equal([]byte(hex.EncodeToString(mac(key, text))), []byte(s.signature)) {
		return errors.New("the signature is wrong")
	}
	return nil
}

// read takes the signature out of the header, or out of the address.
func read(r *http.Request) (signed, error) {
	query := r.URL.Query()
	if query.Has("X-Amz-Signature") {
		seconds, err := strconv.Atoi(query.Get("X-Amz-Expires"))
		s := signed{
			credential: query.Get("X-Amz-Credential"), headers: query.Get("X-Amz-SignedHeaders"), signature: query.Get("X-Amz-Signature"),
			date: query.Get("X-Amz-Date"), payload: unsigned, query: query, life: time.Duration(seconds) * time.Second,
		}
		query.Del("X-Amz-Signature")
		if err != nil || s.life <= 0 || s.life > longestURL || query.Get("X-Amz-Algorithm") != algorithm {
			return s, fmt.Errorf("the address is not signed as it should be: %s", r.URL.RawQuery)
		}
		return s, nil
	}
	s := signed{date: r.Header.Get("X-Amz-Date"), payload: r.Header.Get("X-Amz-Content-Sha256"), query: query, life: skew}
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), algorithm+" ")
	if !ok {
		return s, errors.New("the request is not signed")
	}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Credential":
			s.credential = value
		case "SignedHeaders":
			s.headers = value
		case "Signature":
			s.signature = value
		}
	}
	return s, nil
}

// canonical is the text of a request that is signed.
func canonical(r *http.Request, s signed) (string, error) {
	names := strings.Split(s.headers, ";")
	if !slices.IsSorted(names) || !slices.Contains(names, "host") {
		return "", fmt.Errorf("signed headers are %q", s.headers)
	}
	for name := range r.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-amz-") && !slices.Contains(names, lower) {
			return "", fmt.Errorf("the header %s is not signed", name)
		}
	}
	var headers strings.Builder
	for _, name := range names {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.TrimSpace(value))
	}
	query := strings.ReplaceAll(s.query.Encode(), "+", "%20")
	return strings.Join([]string{r.Method, r.URL.EscapedPath(), query, headers.String(), s.headers, s.payload}, "\n"), nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
