package door

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
)

// mac signs text for one purpose.
func (d *Door) mac(purpose, text string) []byte {
	mac := hmac.New(sha256.New, d.cfg.Key)
	io.WriteString(mac, purpose+":"+text)
	return mac.Sum(nil)
}

// Seal writes v as text that only this program can have written, for one purpose. It can be read by anybody.
func (d *Door) Seal(purpose string, v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(raw)
	return text + "." + base64.RawURLEncoding.EncodeToString(d.mac("seal "+purpose, text)), nil
}

// Unseal reads what Seal wrote and reports whether it is genuine.
func (d *Door) Unseal(purpose, sealed string, v any) bool {
	text, sum, _ := strings.Cut(sealed, ".")
	given, err := base64.RawURLEncoding.DecodeString(sum)
	if err != nil || !hmac.Equal(given, d.mac("seal "+purpose, text)) {
		return false
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(raw, v) == nil
}
