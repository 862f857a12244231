// Package example has a tried example of the tool draw for each language: words, and the picture that they become. A fresh
// house shows it to who comes for the first time.
package example

import "embed"

//go:generate go run ./make

//go:embed *.png
var pictures embed.FS

// Languages are those that there is an example in, English first: those that the fonts that come with the program can write.
func Languages() []string { return []string{"en", "de", "es", "ru"} }

// Words are what was drawn, in a language; others get English.
func Words(language string) string {
	switch language {
	case "de":
		return "Plakat für Freitag: Sommerfest, 20 Uhr, Garten"
	case "es":
		return "un cartel para el viernes: Fiesta de verano, 20:00, jardín"
	case "ru":
		return "афиша на пятницу: Летний праздник, 20:00, сад"
	}
	return "a poster for Friday: Summer party, 8 pm, garden"
}

// Picture is what the tool makes of Words, as PNG.
func Picture(language string) ([]byte, error) {
	content, err := pictures.ReadFile(language + ".png")
	if err != nil {
		return pictures.ReadFile("en.png")
	}
	return content, nil
}
