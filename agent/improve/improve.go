// Package improve helps with prompts where there is no model to ask: styles that can be added to one.
package improve

import (
	"cmp"
	_ "embed" // for the styles that come with the program
	"encoding/json"
	"strings"
)

//go:embed styles.json
var stylesFile []byte

// Style is words that can be added to a prompt.
type Style struct {
	ID    string
	Name  string
	Words string
}

// Styles are the styles that come with the program, in a language (a base language such as "de"; English where there are no texts in it).
func Styles(language string) []Style {
	var file []struct {
		ID    string            `json:"id"`
		Name  map[string]string `json:"name"`
		Words map[string]string `json:"words"`
	}
	if err := json.Unmarshal(stylesFile, &file); err != nil {
		panic("improve: the embedded styles.json: " + err.Error())
	}
	list := make([]Style, len(file))
	for i, s := range file {
		list[i] = Style{s.ID, cmp.Or(s.Name[language], s.Name["en"]), cmp.Or(s.Words[language], s.Words["en"])}
	}
	return list
}

// Add gives the prompt in the style. A prompt that has its words already stays as it is.
func (s Style) Add(prompt string) string {
	prompt = strings.TrimRight(strings.TrimSpace(prompt), ".,;")
	switch {
	case strings.Contains(strings.ToLower(prompt), strings.ToLower(s.Words)):
		return prompt
	case prompt == "":
		return s.Words
	}
	return prompt + ", " + s.Words
}
