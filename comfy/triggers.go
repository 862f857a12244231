package comfy

import (
	"context"
	"encoding/json"
	"errors"
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
	loraFolder     = "loras"
	triggerTime    = 3 * time.Second // of reading LoRA files at a time; what is left is read the next time
	triggerTries   = 3               // of reading one file
	maxTriggers    = 5000            // LoRAs that are remembered
	maxTriggerText = 200             // bytes: a phrase, not a prompt
)

// triggers are the words by which LoRAs are triggered, as their files say.
type triggers struct {
	mu    sync.Mutex
	words map[string]trigger // by file, as engines name it
}

type trigger struct {
	words string
	tries int // that are left to read it; 0: it is read, or given up
}

// Trigger gives the words that the file of a LoRA says trigger it, or "". A file that is not known yet is read at one of the next
// Refreshes, which then calls OnChange.
func (f *Fleet) Trigger(file string) string {
	f.triggers.mu.Lock()
	defer f.triggers.mu.Unlock()
	t, known := f.triggers.words[file]
	if !known && len(f.triggers.words) < maxTriggers {
		f.triggers.words[file] = trigger{tries: triggerTries}
	}
	return t.words
}

// unread lists the files that were asked for and are not read yet.
func (t *triggers) unread() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var files []string
	for file, known := range t.words {
		if known.tries > 0 {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}

func (t *triggers) keep(file, words string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.words[file] = trigger{words: words}
}

func (t *triggers) fail(file string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.words[file] = trigger{tries: t.words[file].tries - 1}
}

// readTriggers asks the engines for what is unread, and tells whether there are words that nobody knew.
func (f *Fleet) readTriggers(ctx context.Context) (found bool) {
	ctx, cancel := context.WithTimeout(ctx, triggerTime)
	defer cancel()
	for _, file := range f.triggers.unread() {
		meta, err := f.loraMetadata(ctx, file)
		if ctx.Err() != nil {
			return found
		}
		if err != nil {
			f.cfg.Logger.Debug("a LoRA's metadata can't be read", "file", file, "error", err)
			f.triggers.fail(file)
			continue
		}
		words := triggerWords(meta)
		f.triggers.keep(file, words)
		found = found || words != ""
	}
	return found
}

// loraMetadata asks one engine after the other, since not all have every file. It is empty where all of them have none.
func (f *Fleet) loraMetadata(ctx context.Context, file string) (api.Metadata, error) {
	var failed error
	for _, e := range f.engines {
		if !e.knowledge().up() || e.endpoint != nil {
			continue
		}
		meta, err := e.Client.ModelMetadata(ctx, loraFolder, file)
		if len(meta) > 0 {
			return meta, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
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
	if len(text) > maxTriggerText || plain.HoldsKey(text) {
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
