package signature

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// LongTolerance is that of ElevenLabs (its public documents of webhooks).
const LongTolerance = 30 * time.Minute

// millis is the first number that is taken for a time in milliseconds; in seconds it is far off.
const millis = 100_000_000_000

// SHA256 checks a header of the form sha256=<hex>, the HMAC of the body: GitHub's X-Hub-Signature-256
// (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries) and Black Forest Labs' X-BFL-Signature. It tells
// no time, so that what is repeated is for the caller to notice.
func SHA256(header string, body []byte, secrets [][]byte) error {
	given, ok := strings.CutPrefix(header, "sha256=")
	raw, err := hex.DecodeString(given)
	if !ok || err != nil || len(raw) == 0 {
		return ErrMissing
	}
	if !anySum(raw, body, secrets) {
		return ErrWrong
	}
	return nil
}

// Stamped checks a header of the form t=<time>,<version>=<hex>, the HMAC of time, a dot and the body: Stripe's with v1
// (https://docs.stripe.com/webhooks), ElevenLabs' with v0. Any signature of the version will do. A time in milliseconds is known by its size.
func Stamped(header, version string, body []byte, now time.Time, tolerance time.Duration, secrets [][]byte) error {
	stamp, signatures := "", [][]byte(nil)
	for entry := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(entry), "=")
		switch raw, err := hex.DecodeString(value); {
		case name == "t":
			stamp = value
		case name == version && err == nil:
			signatures = append(signatures, raw)
		}
	}
	at, err := strconv.ParseUint(stamp, 10, 63)
	if err != nil || len(signatures) == 0 {
		return ErrMissing
	}
	if at >= millis {
		at /= 1000
	}
	if off := now.Sub(time.Unix(int64(at), 0)).Truncate(time.Second); off > tolerance || off < -tolerance { // 63 bits
		return ErrTime
	}
	text := append([]byte(stamp+"."), body...)
	for _, raw := range signatures {
		if anySum(raw, text, secrets) {
			return nil
		}
	}
	return ErrWrong
}
