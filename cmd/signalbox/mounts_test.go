package main

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/siteeditor"
)

func TestMountsAreInTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/people.md")
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string]web.Use{"public": web.Public, "read": web.Read, "content": web.Content, "run": web.Run, "manage": web.Manage, "person": web.Person, "approve": web.Approve, "operator reads": web.OperatorRead, "operator changes": web.OperatorChange}
	told := map[string]web.Use{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z ]+) \| mounted \|.* \| (.*) \|$`).FindAllStringSubmatch(string(text), -1) {
		for _, address := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			told[address[1]] = uses[row[1]]
		}
	}
	h := http.NotFoundHandler()
	for _, m := range (mounted{missions: h, engines: h, console: h, tools: h, mcp: h, ask: h, knowledge: h, site: h, siteAPI: h, siteEditor: h, scenes: h, penpot: h, inbox: h, telegram: h, discord: h, stripe: h}).mounts() {
		if told[m.Path] != m.Use {
			t.Errorf("%s: its Use is %d, the table of docs/people.md says %d (0: it isn't there)", m.Path, m.Use, told[m.Path])
		}
		if m.Page != (strings.Contains(m.Path, " /operator/") || m.Path == "GET "+siteeditor.Root) {
			t.Errorf("%s is a page: %v", m.Path, m.Page)
		}
		delete(told, m.Path)
	}
	for address := range told {
		t.Errorf("%s is in the table of docs/people.md, but not mounted", address)
	}
}
