package apitable

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// specs finds ../shared/specs beside the project.
func specs(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
	dir = filepath.Join(dir, "..", "shared", "specs")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the API descriptions are missing: %v", err)
		}
		t.Skip("no API descriptions beside the project")
	}
	return dir
}

func TestCommittedTable(t *testing.T) {
	t.Parallel()
	t.Run("the committed table is what the descriptions give", func(t *testing.T) {
		t.Parallel()
		table, err := Derive(specs(t))
		if err != nil {
			t.Fatal(err)
		}
		want, err := table.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, committed) {
			t.Fatal("api.json differs from the descriptions; run go generate in telegramtest")
		}
	})
	t.Run("methods are found in any case and by their old names", func(t *testing.T) {
		t.Parallel()
		table, err := Load()
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"SENDMESSAGE": "sendMessage", "kickchatmember": "banChatMember", "nosuch": ""} {
			if got, _, _ := table.Method(name); got != want {
				t.Errorf("Method(%q) = %q, want %q", name, got, want)
			}
		}
		if len(table.Methods) < 180 {
			t.Errorf("%d methods, expected at least 180", len(table.Methods))
		}
	})
}
