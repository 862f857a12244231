package plain

import "regexp"

var secretText = regexp.MustCompile(`\b(sk-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|ghp_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|AIza[A-Za-z0-9_-]{30,}|AKIA[A-Z0-9]{16}|xox[abp]-[A-Za-z0-9-]{10,}|eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}|r8_[A-Za-z0-9]{30,})`)

// HoldsKey tells values that are keys, by their look.
func HoldsKey(s string) bool {
	if len(s) < 18 {
		return false
	}
	for i := 0; i+4 <= len(s); i++ {
		if i > 0 && isAlnum(s[i-1]) {
			continue
		}
		switch s[i : i+3] {
		case "sk-", "hf_", "ghp", "git", "AIz", "AKI", "xox", "eyJ", "r8_":
			if secretText.MatchString(s[i:]) {
				return true
			}
		}
	}
	return false
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// HideKeys puts *** in the place of keys.
func HideKeys(s string) string { return secretText.ReplaceAllString(s, "***") }
