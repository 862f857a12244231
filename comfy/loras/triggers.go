package loras

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/plain"
)

const (
	readTime   = 3 * time.Second // of reading files at a time; what is left is read the next time
	tries      = 3               // of reading one file
	maxFiles   = 5000            // that are remembered
	maxTrigger = 200             // bytes: a phrase, not a prompt
)

// Triggers are the words by which LoRAs are triggered, as their files say. It is safe for concurrent use; the zero value works.
type Triggers struct {
	mu    sync.Mutex
	files map[string]trigger // as engines name them
}

type trigger struct {
	words string
	tries int // that are left to read it; 0: it is read, or given up
}

// Of gives the words that a file says trigger it, or "". One that is not known yet is read at one of the next Reads.
func (t *Triggers) Of(file string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.files[file]
	if !ok && len(t.files) < maxFiles {
		if t.files == nil {
			t.files = make(map[string]trigger)
		}
		t.files[file] = trigger{tries: tries}
	}
	return known.words
}

// Retry has files without words read again, since there are servers now that nobody has asked, or other files.
func (t *Triggers) Retry() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for file, known := range t.files {
		if known.words == "" {
			t.files[file] = trigger{tries: tries}
		}
	}
}

// Read asks for what is unread, and tells whether there are words that nobody knew.
func (t *Triggers) Read(ctx context.Context, log *slog.Logger, ask func(ctx context.Context, file string) (api.Metadata, error)) (found bool) {
	limited, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	for _, file := range t.unread() {
		meta, err := ask(limited, file)
		if ctx.Err() != nil {
			return found
		}
		if err != nil {
			log.Debug("a LoRA's metadata can't be read", "file", file, "error", err)
			t.fail(file)
		} else {
			words := triggerWords(meta)
			t.keep(file, words)
			found = found || words != ""
		}
		if limited.Err() != nil {
			return found
		}
	}
	return found
}

// unread lists the files that were asked for and are not read yet, those last that could not be read.
func (t *Triggers) unread() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var files []string
	for file, known := range t.files {
		if known.tries > 0 {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, b string) int {
		return cmp.Or(t.files[b].tries-t.files[a].tries, strings.Compare(a, b))
	})
	return files
}

func (t *Triggers) keep(file, words string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[file] = trigger{words: words}
}

func (t *Triggers) fail(file string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[file] = trigger{tries: t.files[file].tries - 1}
}

// triggerWords reads by which words a LoRA is triggered: what its author wrote (modelspec.trigger_phrase, ss_trigger_words), else the first tag that stood
// in the captions of all pictures that it was trained on (ss_tag_frequency). Other tags say what is in the pictures, and are none.
func triggerWords(meta api.Metadata) string {
	for _, key := range []string{"modelspec.trigger_phrase", "ss_trigger_words"} {
		if words := phrase(meta.Text(key)); words != "" {
			return words
		}
	}
	return phrase(commonTag(meta.Object("ss_tag_frequency"), meta.Object("ss_dataset_dirs")))
}

// phrase is a text of strangers as it may stand in a prompt. What is too long to be a phrase is none; a list as JSON is one.
func phrase(text string) string {
	var list []string
	if json.Unmarshal([]byte(text), &list) == nil {
		text = strings.Join(list, ", ")
	}
	text = strings.Trim(plain.Line(text), " ,")
	if len(text) > maxTrigger || plain.HoldsKey(text) {
		return ""
	}
	return text
}

// whoIsThere are tags that say how many people are to be seen.
var whoIsThere = regexp.MustCompile(`^(\d+\+?(girl|boy|other)s?|solo|no humans|man|woman|person)$`)

// commonTag is the first tag that all captions of all folders of pictures have. A folder whose pictures nobody counted has to have
// a single tag, which is how trainers note a trigger word.
func commonTag(frequency, folders *ordered.Object) string {
	if frequency.Len() == 0 {
		return ""
	}
	first, _ := frequency.Members()[0].Value.(*ordered.Object)
	for _, tag := range first.Members() {
		everywhere := !slices.ContainsFunc(frequency.Members(), func(folder ordered.Member) bool {
			tags, _ := folder.Value.(*ordered.Object)
			pictures := intOf(folders.Object(folder.Name).Number("img_count"))
			return !tags.Has(tag.Name) || intOf(tags.Number(tag.Name)) < pictures || pictures == 0 && tags.Len() > 1
		})
		if everywhere && !whoIsThere.MatchString(strings.ToLower(strings.TrimSpace(tag.Name))) {
			return tag.Name
		}
	}
	return ""
}

func intOf(n json.Number) int64 { i, _ := n.Int64(); return i }
