package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// printed runs a command and gives what it printed.
func printed(t *testing.T, args ...string) (out, problems string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr)
	return stdout.String(), stderr.String(), code
}

func TestHelp(t *testing.T) {
	t.Run("it is one screen: commands in a line each, and where settings are told", func(t *testing.T) {
		for _, args := range [][]string{{"--help"}, {"help"}} {
			out, problems, code := printed(t, args...)
			if n := strings.Count(out, "\n"); n > 24 || code != 0 || problems != "" || !strings.Contains(out, "  up ") || !strings.Contains(out, "help settings") || strings.Contains(out, "--database-url") {
				t.Errorf("%v: %d lines, code %d, %s\n%s", args, n, code, problems, out)
			}
		}
	})
	t.Run("a command shows its own flags alone", func(t *testing.T) {
		for _, args := range [][]string{{"grant", "--help"}, {"help", "grant"}, {"help", "access", "allow"}} {
			out, problems, code := printed(t, args...)
			if code != 0 || problems != "" || !strings.Contains(out, "--note") || strings.Contains(out, "--log-level") {
				t.Errorf("%v: code %d, %s\n%s", args, code, problems, out)
			}
		}
	})
	t.Run("what is no command is told", func(t *testing.T) {
		if out, problems, code := printed(t, "help", "upp"); code != 1 || out != "" || !strings.Contains(problems, `no command "upp"`) {
			t.Errorf("code %d, %s\n%s", code, problems, out)
		}
	})
	t.Run("what a group of commands does not have is told with what it has", func(t *testing.T) {
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"access", "nope"}, "signalbox access: unexpected argument nope; there are allow, deny, list, remove\nSee signalbox access --help.\n"},
			{[]string{"access", "alow"}, "signalbox access: unexpected argument alow, did you mean \"allow\"; there are allow, deny, list, remove\nSee signalbox access --help.\n"},
			{[]string{"grant"}, "signalbox grant: expected \"<account> <amount>\"\nSee signalbox grant --help.\n"},
			{[]string{"grant", "@ann", "-3"}, "signalbox grant: expected an amount above zero; credit that was given is not taken back, but the person's page in the console limits what they spend, or blocks them\nSee signalbox grant --help.\n"},
			{[]string{"grant", "@ann", "-.5"}, "signalbox grant: expected an amount above zero; credit that was given is not taken back, but the person's page in the console limits what they spend, or blocks them\nSee signalbox grant --help.\n"},
			{[]string{"nope"}, "signalbox: unexpected argument nope\nSee signalbox --help.\n"},
		} {
			if out, problems, code := printed(t, c.args...); code != 2 || out != "" || problems != c.want {
				t.Errorf("%v: code %d, %q %q, want %q", c.args, code, out, problems, c.want)
			}
		}
	})
	t.Run("settings are told by group, each with its variable, default and meaning", func(t *testing.T) {
		out, _, code := printed(t, "help", "settings")
		if code != 0 || !strings.Contains(out, "\nMoney\n  SIGNUP_CREDIT_USD=1\n      Credit of a new account, US dollars.\n") {
			t.Errorf("code %d:\n%s", code, out)
		}
	})
	t.Run("docs/configuration.md is what the program says", func(t *testing.T) {
		page, err := os.ReadFile("../../docs/configuration.md")
		if err != nil {
			t.Fatal(err)
		}
		if out, _, _ := printed(t, "help", "settings", "--markdown"); out != string(page) {
			t.Error("the page is old: run go generate ./cmd/signalbox")
		}
	})
}
