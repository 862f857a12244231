package main

import (
	"math/rand/v2"
	"strings"
)

// The kinds of questions.
const (
	plain   = "plain"
	typos   = "typos"
	long    = "long"
	foreign = "foreign"
)

var kinds = []string{plain, typos, long, foreign}

// Beginnings of questions, and words of other languages for the rest of one.
var (
	beginnings = []string{"how do I", "what is the", "where are the", "can I have a", ""}
	elsewhere  = []string{
		"wie kann ich eine neue Zeichnung anlegen und mit anderen teilen ohne dass die Farben der Ebenen verloren gehen",
		"cómo puedo crear un dibujo nuevo y compartirlo con los demás sin que se pierdan los colores de las capas",
		"как мне создать новый рисунок и поделиться им с другими чтобы цвета слоёв не потерялись при этом",
		"怎样 才能 新建 一张 图 并 与 别人 共享 而 不会 丢失 图层 的 颜色",
	}
)

// questionsOf makes so many questions of each kind, of words from frequent to rare. The same words give the same questions.
func questionsOf(words []string, n int) map[string][]string {
	r := rand.New(rand.NewPCG(7, 7))
	frequent := rand.NewZipf(r, 1.1, 4, uint64(len(words)-1))
	some := func(n int) []string {
		var list []string
		for range n {
			list = append(list, words[frequent.Uint64()])
		}
		return list
	}
	made := map[string][]string{}
	for range n {
		begin := beginnings[r.IntN(len(beginnings))]
		made[plain] = append(made[plain], begin+" "+strings.Join(some(1+r.IntN(7)), " "))
		made[typos] = append(made[typos], begin+" "+strings.Join(misspelt(r, some(2+r.IntN(6))), " "))
		made[long] = append(made[long], begin+" "+strings.Join(some(20+r.IntN(20)), " "))
		other := strings.Fields(elsewhere[r.IntN(len(elsewhere))])
		r.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		made[foreign] = append(made[foreign], strings.Join(other[:3+r.IntN(len(other)-3)], " "))
	}
	return made
}

// misspelt puts a letter too many into one or two words.
func misspelt(r *rand.Rand, words []string) []string {
	for range 1 + r.IntN(2) {
		i := r.IntN(len(words))
		at := r.IntN(len(words[i]))
		words[i] = words[i][:at] + "x" + words[i][at:]
	}
	return words
}
