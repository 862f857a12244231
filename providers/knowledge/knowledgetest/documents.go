package knowledgetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing/fstest"
)

// perDocument is how many sections a made document has.
const perDocument = 20

// filling are words as every English text has them: they tell its language.
var filling = strings.Fields("the of and to in is that it for was on with as at by this from are be or")

// Documents makes Markdown files with so many sections in all, of English filling words and of made ones that are as unevenly frequent as those of a
// language. The same seed gives the same files. It gives the made words, too, from frequent to rare.
func Documents(sections int, seed uint64) (fstest.MapFS, []string) {
	r := rand.New(rand.NewPCG(seed, seed))
	words := vocabulary(r)
	frequent := rand.NewZipf(r, 1.1, 4, uint64(len(words)-1))
	say := func(b *strings.Builder, n int) {
		for range n {
			word := words[frequent.Uint64()]
			if r.IntN(3) == 0 {
				word = filling[r.IntN(len(filling))]
			}
			b.WriteString(word)
			b.WriteByte(' ')
		}
	}
	files := fstest.MapFS{}
	for made := 0; made < sections; {
		var b strings.Builder
		fmt.Fprintf(&b, "# Document %d\n", made)
		for range min(perDocument, sections-made) {
			b.WriteString("\n## ")
			say(&b, 3)
			b.WriteString("\n\n")
			say(&b, 40+r.IntN(120))
			b.WriteByte('\n')
			made++
		}
		files[fmt.Sprintf("part%03d/document%05d.md", made/5000, made)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	return files, words
}

// vocabulary makes words of syllables.
func vocabulary(r *rand.Rand) []string {
	const size = 30_000
	syllables := strings.Fields("ba be bi bo bu da de di do du fa fe fi ga ge go ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe po ra re ri ro sa se si so ta te ti to tra tri pro con ver")
	seen, words := map[string]bool{}, make([]string, 0, size)
	for len(words) < size {
		word := ""
		for range 2 + r.IntN(3) {
			word += syllables[r.IntN(len(syllables))]
		}
		if !seen[word] {
			seen[word] = true
			words = append(words, word)
		}
	}
	return words
}
