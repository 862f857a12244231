package knowledgetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// measures are the columns of a table, after the kind and the number of questions.
var measures = []string{"hit@3", "recall@3", "mrr@10", "ndcg@10", "section@3"}

func (f *Figures) values() []*float64 {
	return []*float64{&f.Hit3, &f.Recall3, &f.MRR, &f.NDCG, &f.Place3}
}

// Table writes figures as lines of text.
func Table(all map[string]Figures) string {
	var b strings.Builder
	head(&b)
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		f := all[kind]
		fmt.Fprintf(&b, "%-11s %3d", kind, f.N)
		for _, v := range f.values() {
			fmt.Fprintf(&b, "  %9.3f", *v)
		}
		if len(f.Best) > 0 {
			fmt.Fprintf(&b, "  scores %.2f-%.2f", f.Best[0], f.Best[len(f.Best)-1])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func head(b *strings.Builder) {
	fmt.Fprintf(b, "%-11s %3s", "", "n")
	for _, name := range measures {
		fmt.Fprintf(b, "  %9s", name)
	}
	b.WriteByte('\n')
}

// Stated reads the figures of a table in a text: lines with a kind, a number of questions, and the five measures as Table writes them.
func Stated(text string) map[string]Figures {
	all := map[string]Figures{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 2+len(measures) {
			continue
		}
		var f Figures
		n, err := strconv.Atoi(fields[1])
		f.N = n
		for i, v := range f.values() {
			var wrong error
			*v, wrong = strconv.ParseFloat(fields[i+2], 64)
			err = cmp.Or(err, wrong)
		}
		if err == nil {
			all[fields[0]] = f
		}
	}
	return all
}

// Measures of one kind beside others of it.
const (
	Better = "better"
	Equal  = "equal"
	Worse  = "worse"
)

// Beside tells of each kind in stated figures how ours are, by measure, to a thousandth.
func Beside(ours, stated map[string]Figures) map[string]map[string]string {
	all := map[string]map[string]string{}
	for kind, s := range stated {
		o := ours[kind]
		all[kind] = map[string]string{}
		for i, v := range s.values() {
			difference := *o.values()[i] - *v
			word := Equal
			switch {
			case difference > 0.0005:
				word = Better
			case difference < -0.0005:
				word = Worse
			}
			all[kind][measures[i]] = word
		}
	}
	return all
}

// BesideTable writes what Beside tells as lines of text.
func BesideTable(ours, stated map[string]Figures) string {
	var b strings.Builder
	head(&b)
	all := Beside(ours, stated)
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%-11s %3d", kind, ours[kind].N)
		for _, name := range measures {
			fmt.Fprintf(&b, "  %9s", all[kind][name])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
