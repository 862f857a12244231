package settings

import (
	"net/url"
	"strings"
)

// Store is an object store for files, as S3_ENDPOINT and those beside it name it. Its zero value is none.
type Store struct {
	Endpoint, PublicEndpoint *url.URL // nil: none
	Bucket, Region           string
	AccessKeyID              string
	SecretAccessKey          string
}

// Wrong is a setting that is not as it should be. Found never is a secret.
type Wrong struct{ Variable, Found, Want string }

// Store reads the settings of the object store and lists all that are wrong. Without S3_ENDPOINT there is none.
func (s StoreSettings) Store() (store Store, wrong []Wrong) {
	unless := func(ok bool, variable, found, want string) {
		if !ok {
			wrong = append(wrong, Wrong{variable, found, want})
		}
	}
	const address = "an http:// or https:// address with nothing behind the host, for example https://s3.eu-central-1.amazonaws.com"
	store = Store{Bucket: s.S3Bucket, Region: s.S3Region, AccessKeyID: s.S3AccessKeyID, SecretAccessKey: s.S3SecretAccessKey}
	var ok bool
	store.Endpoint, ok = origin(s.S3Endpoint)
	unless(ok, "S3_ENDPOINT", "(hidden)", address)
	store.PublicEndpoint, ok = origin(s.S3PublicEndpoint)
	unless(ok, "S3_PUBLIC_ENDPOINT", "(hidden)", address)
	unless(s.S3Bucket == "" || isBucket(s.S3Bucket), "S3_BUCKET", s.S3Bucket, "the name of a bucket: 3 to 63 small letters, digits, dots and hyphens")
	unless(!strings.ContainsAny(s.S3Region, " /"), "S3_REGION", s.S3Region, "a region, for example us-east-1")
	unless(fits(s.S3AccessKeyID), "S3_ACCESS_KEY_ID", "(hidden)", "the id of a key, without spaces")
	unless(fits(s.S3SecretAccessKey), "S3_SECRET_ACCESS_KEY", "(hidden)", "the secret of the key, without spaces")
	if len(wrong) > 0 {
		return Store{}, wrong
	}
	if s.S3Endpoint == "" {
		unless(s.S3Bucket+s.S3AccessKeyID+s.S3SecretAccessKey+s.S3PublicEndpoint == "", "S3_ENDPOINT", "", "the address of the store that the other S3 settings are for")
		return Store{}, wrong
	}
	for variable, value := range map[string]string{"S3_BUCKET": s.S3Bucket, "S3_ACCESS_KEY_ID": s.S3AccessKeyID, "S3_SECRET_ACCESS_KEY": s.S3SecretAccessKey} {
		unless(value != "", variable, "", "a value, as S3_ENDPOINT is set")
	}
	return store, wrong
}

func isBucket(name string) bool {
	return len(name) >= 3 && len(name) <= 63 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") == ""
}

// origin reads an address that is nothing but scheme, host and port; nothing is none.
func origin(address string) (*url.URL, bool) {
	if address == "" {
		return nil, true
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, false
	}
	return u, u.Scheme == "http" || u.Scheme == "https"
}

func fits(key string) bool {
	return !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

// MediaOrigin is where browsers get media from, empty where that is the program.
func (s Store) MediaOrigin() string {
	if s.PublicEndpoint == nil {
		return ""
	}
	return s.PublicEndpoint.Scheme + "://" + s.PublicEndpoint.Host
}
