package chattest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRulesNameTests keeps the list of rules honest: each cell of docs/ux.md names tests that exist, or gives a reason.
func TestRulesNameTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "ux.md"))
	if err != nil {
		t.Fatal(err)
	}
	rules := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		var number int
		if n, _ := fmt.Sscanf(cells[0], " %d.", &number); n != 1 || !strings.HasPrefix(line, "|") {
			continue
		}
		rules++
		if number != rules || len(cells) != len(columns)+1 {
			t.Errorf("rule %d is rule %d of the page and has %d platforms, not %d", number, rules, len(cells)-1, len(columns))
			continue
		}
		row := rule{}
		for i, folders := range columns {
			if wrong := row.check(cells[i+1], folders); wrong != "" {
				t.Errorf("rule %d, platform %d: %s", number, i+1, wrong)
			}
		}
	}
	if rules != 43 {
		t.Errorf("the page has %d rules, not 43", rules)
	}
}

// columns are where the tests of each platform are.
var columns = [][]string{{"platforms/telegram"}, {"platforms/discord"}, {"platforms/web", "platforms/web/webchat"}}

// rule is a row of the page.
type rule struct {
	inSuite bool // a test of the suite was named, so that S alone means something
}

// named takes a name apart: the folder, unless it is one of the platform's own, the function, the beginning of a subtest.
var named = regexp.MustCompile("^(?:`([a-z0-9/]+)` |(chat|chattest) )?((?:Test|Benchmark)[A-Za-z0-9]+)(?:: (.+))?$")

// check tells what is wrong with a cell, if anything.
func (r *rule) check(cell string, folders []string) string {
	cell = strings.TrimSpace(cell)
	if reason, ok := strings.CutPrefix(cell, "— "); ok && reason != "" {
		return ""
	}
	for item := range strings.SplitSeq(cell, ";") {
		item, _, _ = strings.Cut(strings.TrimSpace(item), " (")
		begin, _, short := strings.Cut(item, " …")
		name, inSuite := strings.CutPrefix(begin, "S ")
		found := false
		switch parts := named.FindStringSubmatch(begin); {
		case begin == "S":
			found = r.inSuite
		case inSuite:
			found, r.inSuite = isTest(name, short), true
		case parts != nil:
			found = inFolders(foldersOf(parts, folders), parts[3], parts[4])
		}
		if !found {
			return fmt.Sprintf("there is no test %q", item)
		}
	}
	return ""
}

// foldersOf gives where a name is to be found: in the folder it names, else in the platform's own.
func foldersOf(parts, own []string) []string {
	switch {
	case parts[1] != "":
		return []string{parts[1]}
	case parts[2] == "chattest":
		return []string{"platforms/chat/chattest"}
	case parts[2] == "chat":
		return []string{"platforms/chat", "platforms/chat/*"}
	}
	return own
}

// inFolders reports whether the folders have the function and, in its body, a text that begins like the subtest.
func inFolders(folders []string, function, subtest string) bool {
	for _, folder := range folders {
		files, _ := filepath.Glob(filepath.Join("..", "..", "..", filepath.FromSlash(folder), "*_test.go"))
		for _, file := range files {
			code, _ := os.ReadFile(file)
			_, body, found := strings.Cut(string(code), "\nfunc "+function+"(")
			body, _, _ = strings.Cut(body, "\n}\n")
			if found && (subtest == "" || strings.Contains(body, `"`+subtest)) {
				return true
			}
		}
	}
	return false
}

// isTest reports whether the suite has a test of that name or, if it is shortened, one that begins so.
func isTest(name string, short bool) bool {
	all := tests()
	if _, ok := all[name]; ok || !short {
		return ok
	}
	for full := range all {
		if strings.HasPrefix(full, name) {
			return true
		}
	}
	return false
}
