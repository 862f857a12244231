package knowledgetest_test

import (
	"testing"

	"github.com/signalbox/signalbox/providers/knowledge/knowledgetest"
)

func TestFiguresBesideOthers(t *testing.T) {
	t.Parallel()
	ours := map[string]knowledgetest.Figures{"short": {N: 8, Hit3: 1, Recall3: 0.9, MRR: 0.5, NDCG: 0.4004, Place3: 0.2}}
	stated := knowledgetest.Stated("Figures of some search:\n\n       n hit@3 recall@3 mrr@10 ndcg@10 section@3\n short 8 1.000 0.950 0.400 0.400 0.300\n\nNot one: short of it all, in 7 words\n")
	if len(stated) != 1 || stated["short"].Recall3 != 0.95 || stated["short"].N != 8 {
		t.Fatalf("read was %+v", stated)
	}
	want := map[string]string{"hit@3": knowledgetest.Equal, "recall@3": knowledgetest.Worse, "mrr@10": knowledgetest.Better, "ndcg@10": knowledgetest.Equal, "section@3": knowledgetest.Worse}
	got := knowledgetest.Beside(ours, stated)["short"]
	for measure, word := range want {
		if got[measure] != word {
			t.Errorf("%s is %s, expected %s", measure, got[measure], word)
		}
	}
	if again := knowledgetest.Stated(knowledgetest.Table(stated)); again["short"].MRR != 0.4 {
		t.Errorf("a table of ours can't be read: %+v", again)
	}
}
