package index_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/providers/knowledge/wordvec"
)

// bundle is an index and what a test needs to fill it.
type bundle struct {
	*index.Index
	t    *testing.T
	pool *pgxpool.Pool
	read int // documents that were read
}

func setup(t *testing.T, change ...func(*index.Config)) *bundle {
	t.Helper()
	pool := postgrestest.New(t)
	cfg := index.Config{Pool: pool}
	for _, f := range change {
		f(&cfg)
	}
	return &bundle{index.New(cfg), t, pool, 0}
}

// withWords finds by the meaning of words, too.
func withWords(t *testing.T) func(*index.Config) {
	words := wordvec.New()
	return func(c *index.Config) { c.Embedder, c.Dictionary = words, words }
}

// source adds a source; change may be nil.
func (b *bundle) source(name string, change func(*index.Source)) index.Source {
	b.t.Helper()
	s := index.Source{ToolID: name + "Rag", Name: name, Title: name, Origin: index.OriginFolder, Access: index.AccessHouse}
	if change != nil {
		change(&s)
	}
	var err error
	if s.ID, err = b.Save(b.t.Context(), s); err != nil {
		b.t.Fatal(err)
	}
	return s
}

// items are documents of one passage each: path and text.
func (b *bundle) items(documents ...[2]string) iter.Seq2[index.Item, error] {
	return func(yield func(index.Item, error) bool) {
		for _, d := range documents {
			item := index.Item{Path: d[0], Hash: []byte(d[1]), Read: func(context.Context) (index.Document, error) {
				b.read++
				return index.Document{Title: d[0], Chunks: []index.Chunk{{Heading: d[0], Summary: d[1], Text: d[1], URL: "https://docs.example/" + d[0], SourcePath: d[0], Breadcrumbs: []string{"Guide", d[0]}, CodeLangs: []string{"go"}, HasCode: true}}}, nil
			}}
			if !yield(item, nil) {
				return
			}
		}
	}
}

func (b *bundle) refresh(s index.Source, documents ...[2]string) index.Change {
	b.t.Helper()
	done, err := b.Refresh(b.t.Context(), s, b.items(documents...))
	if err != nil {
		b.t.Fatal(err)
	}
	return done
}

// paths are the documents that a question finds.
func (b *bundle) paths(q index.Query) []string {
	b.t.Helper()
	found, err := b.Search(b.t.Context(), q)
	if err != nil {
		b.t.Fatal(err)
	}
	list := []string{}
	for _, r := range found.Results {
		list = append(list, r.Path)
	}
	return list
}

// account makes one, known on a platform by an id.
func (b *bundle) account(platform, id string) string {
	b.t.Helper()
	account := uuid.NewString()
	if _, err := b.pool.Exec(b.t.Context(), `INSERT INTO users (id) VALUES ($1)`, account); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.pool.Exec(b.t.Context(), `INSERT INTO user_identities (platform, external_id, user_id) VALUES ($1, $2, $3)`, platform, id, account); err != nil {
		b.t.Fatal(err)
	}
	return account
}

func TestNobodyFindsWhatTheyMayNotRead(t *testing.T) {
	t.Parallel()
	for _, meaning := range []bool{false, true} {
		t.Run(fmt.Sprintf("E38 by meaning too: %v", meaning), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if meaning {
				b = setup(t, withWords(t))
			}
			ann, ben, cat := b.account("telegram", "1"), b.account("telegram", "2"), b.account("discord", "3")
			if err := b.SetGroups(t.Context(), map[string][]string{"designers": {"telegram:2"}}); err != nil {
				t.Fatal(err)
			}
			sources := map[string]func(*index.Source){
				"open":   func(s *index.Source) { s.Access = index.AccessPublic },
				"house":  nil,
				"named":  func(s *index.Source) { s.Access, s.Readers = index.AccessListed, []string{"discord:3", ben} },
				"group":  func(s *index.Source) { s.Access, s.Readers = index.AccessListed, []string{"designers"} },
				"annOwn": func(s *index.Source) { s.Access, s.Owner, s.Origin = index.AccessListed, ann, index.OriginUpload },
			}
			for name, change := range sources {
				// One word stands only there, one is everywhere.
				b.refresh(b.source(name, change), [2]string{name, "The zyzzyva" + strings.ToLower(name) + " eats a strawberry in the garden of the house."})
			}
			for _, who := range []struct {
				name, account string
				may           []string
			}{
				{"nobody", "", []string{"open"}},
				{"ann", ann, []string{"annOwn", "house", "open"}},
				{"ben", ben, []string{"group", "house", "named", "open"}},
				{"cat", cat, []string{"house", "named", "open"}},
			} {
				for name := range sources {
					got := b.paths(index.Query{Text: "zyzzyva" + strings.ToLower(name), Account: who.account})
					if may := slices.Contains(who.may, name); may != slices.Contains(got, name) {
						t.Errorf("%s looks for the word of %s: found %v, may read it: %v", who.name, name, got, may)
					}
					misspelt := b.paths(index.Query{Text: "zyzziva" + strings.ToLower(name), Account: who.account})
					if !slices.Contains(who.may, name) && slices.Contains(misspelt, name) {
						t.Errorf("%s finds %s by a misspelt word", who.name, name)
					}
					_, err := b.Search(t.Context(), index.Query{Text: "strawberry", Account: who.account, ToolID: name + "Rag"})
					if may := slices.Contains(who.may, name); may != (err == nil) || !may && !errors.Is(err, index.ErrUnknown) {
						t.Errorf("%s asks the tool of %s: %v", who.name, name, err)
					}
				}
				got := b.paths(index.Query{Text: "strawberry in a garden", Account: who.account})
				slices.Sort(got)
				if !slices.Equal(got, who.may) {
					t.Errorf("%s finds %v, expected %v", who.name, got, who.may)
				}
				list, err := b.Sources(t.Context(), who.account)
				if err != nil || len(list) != len(who.may) {
					t.Errorf("%s sees %d sources, expected %v (%v)", who.name, len(list), who.may, err)
				}
			}
			if got := b.paths(index.Query{Text: "strawberry", Account: ann, Shared: true}); slices.Contains(got, "annOwn") || !slices.Contains(got, "house") {
				t.Errorf("where others read along ann finds %v", got)
			}
		})
	}
}

func TestOnlyWhatChangedIsReadAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.source("guide", nil)
	first := b.refresh(s, [2]string{"a", "The first text is about apples."}, [2]string{"b", "The second text is about bananas."}, [2]string{"c", "The third text is about cherries."})
	if first.Written != 3 || b.read != 3 {
		t.Fatalf("%+v, %d read", first, b.read)
	}
	if again := b.refresh(s, [2]string{"a", "The first text is about apples."}, [2]string{"b", "The second text is about bananas."}, [2]string{"c", "The third text is about cherries."}); again.Changed() || b.read != 3 {
		t.Errorf("with nothing new: %+v, %d read", again, b.read)
	}
	if changed := b.refresh(s, [2]string{"a", "The first text is about apples."}, [2]string{"b", "The second text is now about dates."}); changed.Written != 1 || changed.Removed != 1 || changed.Kept != 1 || b.read != 4 {
		t.Errorf("one changed, one gone: %+v, %d read", changed, b.read)
	}
	for word, want := range map[string][]string{"apples": {"a"}, "dates": {"b"}, "bananas": {}, "cherries": {}} {
		if got := b.paths(index.Query{Text: word, Account: "x"}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, expected %v", word, got, want)
		}
	}
	t.Run("what is kept beside the passages is what was made of these, and no more", func(t *testing.T) {
		for what, query := range map[string]string{
			"postings":                   `SELECT count(*) FROM knowledge_postings p WHERE NOT EXISTS (SELECT FROM knowledge_chunks c WHERE c.id = p.chunk_id)`,
			"lexemes of nothing":         `SELECT count(*) FROM knowledge_lexemes l WHERE l.chunks <> (SELECT count(*) FROM knowledge_postings p WHERE p.source_id = l.source_id AND p.lexeme = l.lexeme)`,
			"lexemes without an entry":   `SELECT count(*) FROM knowledge_postings p WHERE NOT EXISTS (SELECT FROM knowledge_lexemes l WHERE l.source_id = p.source_id AND l.lexeme = p.lexeme)`,
			"a wrong number of passages": `SELECT count(*) FROM knowledge_sources s WHERE s.chunks <> (SELECT count(*) FROM knowledge_chunks c WHERE c.source_id = s.id)`,
		} {
			var n int
			if err := b.pool.QueryRow(t.Context(), query).Scan(&n); err != nil || n != 0 {
				t.Errorf("%s: %d (%v)", what, n, err)
			}
		}
	})
	t.Run("a source that is removed leaves nothing", func(t *testing.T) {
		if err := b.Remove(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"sources", "documents", "chunks", "postings", "lexemes"} {
			var n int
			if err := b.pool.QueryRow(t.Context(), `SELECT count(*) FROM knowledge_`+table).Scan(&n); err != nil || n != 0 {
				t.Errorf("%s: %d (%v)", table, n, err)
			}
		}
	})
}

// Each process keeps the words of sources in memory.
func TestMisspeltWordsAreThoseOfToday(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.source("guide", nil)
	neighbour := &bundle{index.New(index.Config{Pool: b.pool}), t, b.pool, 0}
	b.refresh(s, [2]string{"trees", "The chestnut in the yard."})
	for _, c := range []struct {
		text string
		want []string
	}{{"chesnut", []string{"trees"}}, {"gooseberrry", []string{}}} {
		if got := neighbour.paths(index.Query{Text: c.text, Account: b.account("telegram", c.text)}); !slices.Equal(got, c.want) {
			t.Errorf("%s finds %v, not %v", c.text, got, c.want)
		}
	}
	b.refresh(s, [2]string{"bushes", "The gooseberry behind the house."})
	for _, c := range []struct {
		text string
		want []string
	}{{"chestnutt", []string{}}, {"gooseberrry", []string{"bushes"}}} {
		if got := neighbour.paths(index.Query{Text: c.text, Account: b.account("web", c.text)}); !slices.Equal(got, c.want) {
			t.Errorf("%s finds %v, not %v, after the neighbour has read other documents", c.text, got, c.want)
		}
	}
}

func TestTheWholePageCounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	page := func(path string, sections ...string) index.Item {
		d := index.Document{Title: path}
		for i, text := range sections {
			d.Chunks = append(d.Chunks, index.Chunk{Heading: fmt.Sprint("Part ", i), Text: text, SourcePath: path, Breadcrumbs: []string{path, fmt.Sprint("Part ", i)}})
		}
		return index.Item{Path: path, Hash: []byte(path), Read: func(context.Context) (index.Document, error) { return d, nil }}
	}
	_, err := b.Refresh(t.Context(), b.source("house", func(s *index.Source) { s.Language = "english" }), func(yield func(index.Item, error) bool) {
		_ = yield(page("walls", "Walls of granite.", "Walls of granite."), nil) && yield(page("floors", "Walls of granite.", "Floors of marble."), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.paths(index.Query{Text: "granite and marble", Account: "x"}), []string{"floors", "floors", "walls", "walls"}; !slices.Equal(got, want) {
		t.Errorf("of equal passages that of the page with both words comes first: found %v, expected %v", got, want)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	b := setup(t, withWords(t))
	b.refresh(b.source("guide", func(s *index.Source) { s.Language = "english"; s.Title = "The guide" }),
		[2]string{"boards", "Boards are layers that contain other layers. Create a board with the tool in the toolbar."},
		[2]string{"export", "Exported files are pictures or documents. The exportBoard function of the plugin writes them."},
		[2]string{"team", "Invite colleagues to your team and choose what they are permitted to do."},
		[2]string{"list", "Pagination with navigation: long lists are shown in parts."},
		[2]string{"photo", "A photograph becomes blurred when it is enlarged too much."},
	)
	for text, want := range map[string]string{
		"boards":                         "boards", // a word
		"creating a bord":                "boards", // misspelt
		"pagintaion":                     "list",   // in its ending, so that it is not reduced
		"navigaton":                      "list",
		"exporting":                      "export", // another form
		"export board function":          "export", // parts of a name in code
		"camera images look fuzzy":       "photo",  // meaning
		"who may join us, add coworkers": "team",
	} {
		if got := b.paths(index.Query{Text: text, Account: "x"}); len(got) == 0 || got[0] != want {
			t.Errorf("E38 %q finds %v, expected %s first", text, got, want)
		}
	}
	t.Run("E36 all fields of a passage come back", func(t *testing.T) {
		found, err := b.Search(t.Context(), index.Query{Text: "invite colleagues", Account: "x"})
		if err != nil || len(found.Results) == 0 {
			t.Fatal(found, err)
		}
		r := found.Results[0]
		if r.Title != "team" || r.Heading != "team" || r.Snippet == "" || r.URL != "https://docs.example/team" || r.Path != "team" || !slices.Equal(r.Breadcrumbs, []string{"Guide", "team"}) ||
			r.Summary == "" || !r.HasCode || !slices.Equal(r.CodeLangs, []string{"go"}) || r.Source != "The guide" || r.Score <= 0.5 || r.Score > 1 {
			t.Errorf("%+v", r)
		}
		var vector []byte
		if err := b.pool.QueryRow(t.Context(), `SELECT embedding FROM knowledge_chunks WHERE source_path = 'team'`).Scan(&vector); err != nil || len(vector) != 4*wordvec.Dimension {
			t.Errorf("E36 the embedding has %d bytes (%v)", len(vector), err)
		}
	})
	t.Run("nothing about that is an answer, and E29 another language a hint", func(t *testing.T) {
		for text, foreign := range map[string]string{"": "", "the of and": "", "qwertzuiop": "", "wie mache ich das mit der Tafel": "english", "как пригласить людей": "english", "如何创建": "english", "Farbverlauf ausblenden": "english", "xylophone quartet": ""} {
			found, err := b.Search(t.Context(), index.Query{Text: text, Account: "x"})
			if err != nil || len(found.Results) != 0 || found.Foreign != foreign && text != "" && text != "the of and" && text != "qwertzuiop" {
				t.Errorf("%q: %+v (%v)", text, found, err)
			}
		}
	})
	t.Run("E29 names are found in a question of another language, with a hint", func(t *testing.T) {
		b.refresh(b.source("export", nil), [2]string{"svg", "A layer is exported as an SVG file, which all browsers show."}, [2]string{"token", "A getToken call needs the key of the account."})
		for text, want := range map[string]string{"Wie exportiere ich eine Zeichnung als SVG?": "svg", "как вызвать getToken в программе": "token", "怎样导出 svg 文件": "svg", "Wie benutze ich getToken in meinem Programm?": "token"} {
			found, err := b.Search(t.Context(), index.Query{Text: text, Account: "x"})
			if err != nil || found.Foreign != "english" || len(found.Results) != 1 || found.Results[0].Path != want {
				t.Errorf("%q: %+v (%v)", text, found, err)
			}
		}
	})
	t.Run("strange questions are no errors", func(t *testing.T) {
		for _, text := range []string{"\x00", "a\xffb", strings.Repeat("word ", 5000), "' OR 1=1 --", ":* & | ! <->", strings.Repeat("x", 20_000), "％_\\"} {
			if _, err := b.Search(t.Context(), index.Query{Text: text, Account: "x"}); err != nil {
				t.Errorf("%.20q: %v", text, err)
			}
		}
	})
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.refresh(b.source("deutsch", nil), [2]string{"ebenen", "Die Ebenen sind auf der Zeichenfläche, und wie man sie gruppiert, steht in diesem Kapitel. Das ist nicht schwer."})
	b.refresh(b.source("chinese", nil), [2]string{"组件", "如何创建组件以及如何在设计中使用它们"})
	b.refresh(b.source("english", nil), [2]string{"layers", "The layers are on the canvas, and how they are grouped is in this chapter. It is not difficult."})
	for text, want := range map[string]string{"Ebene gruppieren": "ebenen", "创建组件": "组件", "grouping a layer": "layers"} {
		if got := b.paths(index.Query{Text: text, Account: "x"}); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %v, expected %s first", text, got, want)
		}
	}
	list, err := b.All(t.Context())
	if err != nil || list[0].Language != "german" || list[2].Language != "english" {
		t.Errorf("languages were found out as %+v (%v)", list, err)
	}
}

func TestLanguageOfALittle(t *testing.T) {
	t.Parallel()
	b := setup(t, withWords(t))
	b.refresh(b.source("garden", nil), [2]string{"notes", "Plant quinces in spring."})
	if got := b.paths(index.Query{Text: "when to plant quinces", Account: "x"}); len(got) != 1 {
		t.Errorf("a note of four words is not found: %v", got)
	}
	b.refresh(b.source("codes", nil), [2]string{"list", strings.Repeat("QX7 ZK9 WW3 ", 40)})
	if found, err := b.Search(t.Context(), index.Query{Text: "wann werden die Bäume hier gepflanzt", Account: "x"}); err != nil || found.Foreign != "english" {
		t.Errorf("E29 beside a source of no language, which comes first: %+v (%v)", found, err)
	}
	list, err := b.All(t.Context())
	if err != nil || list[0].Language != "english" || list[1].Language != "simple" {
		t.Errorf("%+v (%v)", list, err)
	}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, also := b.account("telegram", "1"), b.account("discord", "1")
	own := func(owner string) func(*index.Source) {
		return func(s *index.Source) {
			s.Owner, s.Access, s.Origin, s.ToolID = owner, index.AccessListed, index.OriginUpload, s.Name+owner+"Rag"
		}
	}
	b.refresh(b.source("notes", own(ann)), [2]string{"a", "Something about quinces."})
	b.refresh(b.source("notes", own(also)), [2]string{"b", "Something about quinces, too."})
	if _, err := b.Save(t.Context(), index.Source{ToolID: "x", Name: "notes", Title: "x", Owner: ann, Origin: index.OriginFolder, Access: index.AccessListed}); !errors.Is(err, index.ErrTaken) {
		t.Errorf("a second source of one name, from elsewhere: %v", err)
	}
	tx := func(f func(tx pgx.Tx) error) {
		if err := pgx.BeginFunc(t.Context(), b.pool, f); err != nil {
			t.Fatal(err)
		}
	}
	tx(func(tx pgx.Tx) error { return index.Adopt(t.Context(), tx, also, ann) })
	if got := b.paths(index.Query{Text: "quinces", Account: ann}); len(got) != 2 {
		t.Errorf("after two accounts became one their owner finds %v", got)
	}
	tx(func(tx pgx.Tx) error { return index.Forget(t.Context(), tx, ann) })
	if got := b.paths(index.Query{Text: "quinces", Account: ann}); len(got) != 0 {
		t.Errorf("after the account was erased: %v", got)
	}
}

// deaf makes vectors of passages, and hangs where somebody waits.
type deaf struct {
	*wordvec.Table
	t        *testing.T
	question string
}

func (d deaf) Ask(context.Context, string) ([]float32, error) {
	return nil, errors.New("no answer in time")
}

func (d deaf) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if slices.Contains(texts, d.question) {
		d.t.Error("a question was asked as if nobody waited for its answer")
	}
	return d.Table.Embed(ctx, texts)
}

func TestAQuestionDoesNotWaitForVectors(t *testing.T) {
	t.Parallel()
	const question = "how do I paint a fence"
	b := setup(t, func(c *index.Config) {
		c.Embedder, c.Logger = deaf{wordvec.New(), t, question}, slog.New(slog.DiscardHandler)
	})
	b.refresh(b.source("guide", nil), [2]string{"fence", "To paint a fence, take a brush."}, [2]string{"roof", "To mend a roof, take a ladder."})
	found, err := b.Search(t.Context(), index.Query{Text: question, Account: "x"})
	if err != nil || len(found.Results) == 0 || found.Results[0].Title != "fence" {
		t.Errorf("%+v, %v", found, err)
	}
}
