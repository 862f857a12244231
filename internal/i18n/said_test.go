package i18n

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestTranslate(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for english, want := range map[string]string{
		"the engine does not answer":                                           "der Server antwortet nicht",
		"the service has a problem of its own":                                 "API hat selbst ein Problem",
		"Vidu has too much to do at the moment":                                "Vidu hat gerade zu viel zu tun",
		"no engine has the node FluxGuidance, nor the models a.safetensors, b": "kein Server hat den Node FluxGuidance und die Modelle a.safetensors, b",
		"the workflow failed at an unknown node":                               "der Ablauf ist gescheitert bei einem unbekannten Node",
		`there is a preset "mine" already`:                                     "es gibt schon eine Vorlage „mine“",
		"Painter is unavailable: no engine has answered yet; use Ink instead":  "Painter ist nicht verfügbar: noch hat kein Server geantwortet; nimm stattdessen Ink",
		"box.example failed: the *colour* {x} is odd":                          "box.example ist gescheitert: „the *colour* {x} is odd“",
		"the model does not make this: its rules for content exclude it":       "das Modell macht das nicht: Seine Regeln für Inhalte schließen es aus",
		"Painter has no input of that name; did you mean steps?":               "Painter hat keine Eingabe dieses Namens; meintest du steps?",
		"no engine has the model a.safetensors":                                "kein Server hat das Modell a.safetensors",
		"the idea is somebody else's":                                          "",
		"":                                                                     "",
	} {
		if got, ok := c.Voice("de").Translate(english); got != want || ok != (want != "") {
			t.Errorf("%q is said as %q, %v; want %q", english, got, ok, want)
		}
	}
	if got, ok := c.Voice("en").Translate("the engine does not answer."); got != "the engine does not answer" || !ok {
		t.Errorf("in English: %q, %v", got, ok)
	}
}

// unsaid are messages that nobody reads in a translated place: those of the API, of registering, of limits and keys
// that programs and operators set, and those about an input, which forms and chats say in words of their own. TestTranslate
// has the last ones, which are put together of parts.
var unsaid = regexp.MustCompile(`^(%s: .*|%s|expected at most .*|a key's limit .*|a limit .*|the idempotency key .*|there are %d endpoints .*|no tool %s was registered|endpoint: %s|` +
	`%s comes from the operator's file; .*|%s; nothing was run and nothing was charged|` +
	`no engine has %s|%s has no input of that name%s)$`)

// TestHouseErrorsAreTranslated reads the program's source: each message of an error and each reason of a tool's state that
// the house makes itself is in the catalogue, so that people read it in their language.
func TestHouseErrorsAreTranslated(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, room := range []string{"registry", "runs", "users", "comfy", "providers", "platforms/chat", "platforms/web/webchat"} {
		err := filepath.WalkDir(filepath.Join("..", "..", filepath.FromSlash(room)), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && (strings.HasSuffix(entry.Name(), "test") || entry.Name() == "cpu" || entry.Name() == "testdata") {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			for _, text := range messages(t, path) {
				found++
				if unsaid.MatchString(text) {
					continue
				}
				sample := regexp.MustCompile(`%[-+#.0-9]*[a-z]`).ReplaceAllStringFunc(text, func(verb string) string {
					if strings.HasSuffix(verb, "q") {
						return `"Rhubarb"`
					}
					return "Rhubarb"
				})
				if got, ok := c.Voice("de").Translate(sample); !ok || got == sample {
					t.Errorf("%s says %q, which is not in the texts said.*.json", path, text)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 150 {
		t.Errorf("only %d messages were found: the test does not read the source as it should", found)
	}
}

// messages are the formats of the errors and states that a file makes.
func messages(t *testing.T, path string) (texts []string) {
	t.Helper()
	code, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, code, 0)
	if err != nil {
		t.Fatal(err)
	}
	add := func(e ast.Expr) {
		if text, ok := literal(e); ok {
			texts = append(texts, text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if nameOf(n.Fun) == "Errorf" && len(n.Args) > 1 && strings.HasPrefix(nameOf(n.Args[0]), "Code") {
				add(n.Args[1])
			}
		case *ast.CompositeLit:
			if kind := nameOf(n.Type); kind != "Error" && kind != "Status" {
				return true
			}
			for _, member := range n.Elts {
				if pair, ok := member.(*ast.KeyValueExpr); ok && (nameOf(pair.Key) == "Message" || nameOf(pair.Key) == "Reason") {
					add(pair.Value)
				}
			}
		}
		return true
	})
	return texts
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// literal is the format that an expression begins as: a text, texts joined with values, or a call of Sprintf.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, isLeft := literal(e.X)
		right, isRight := literal(e.Y)
		return left + right, isLeft || isRight
	case *ast.CallExpr:
		if nameOf(e.Fun) == "Sprintf" && len(e.Args) > 0 {
			return literal(e.Args[0])
		}
	}
	return "%s", false
}
