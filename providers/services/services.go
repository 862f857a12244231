// Package services has today's services as data: files for providers/httptools, one for each account. Their facts and prices
// are those of the services' public documents, with their date; what these leave open is left out, and each file says what.
package services

import (
	"embed"
	"encoding/json"
	"fmt"
)

// Files are the descriptions. A file is off until the secret that it names is set.
//
//go:embed *.tool.yaml
var Files embed.FS

//go:embed words.json
var words []byte

// Words are the texts of the files in other languages, by the text and the base language. Names of products are not in it.
func Words() map[string]map[string]string {
	var in map[string]map[string]string
	if err := json.Unmarshal(words, &in); err != nil {
		panic(fmt.Sprintf("services: words.json, which is built in: %v", err))
	}
	return in
}
