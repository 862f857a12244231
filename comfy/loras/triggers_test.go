package loras

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/signalbox/signalbox/comfy/api"
)

func TestTriggerWords(t *testing.T) {
	t.Parallel()
	const twenty = `{"10_ohwx": {"n_repeats": 10, "img_count": 20}}`
	for name, c := range map[string]struct{ phrase, list, tags, folders, want string }{
		"nothing":                                   {},
		"the author's phrase before tags":           {phrase: " ink  wash,\n paper, ", tags: `{"1_x": {"x": 1}}`, want: "ink wash, paper"},
		"a list of words":                           {list: `["ohwx", "ohwx man"]`, want: "ohwx, ohwx man"},
		"a whole prompt is no phrase":               {phrase: strings.Repeat("word ", 100)},
		"invisible marks":                           {phrase: "ink\u202e\u0000 wash", want: "ink wash"},
		"a single tag, as trainers note it":         {tags: `{"1_p3r": {"p3r": 1}}`, want: "p3r"},
		"the first tag of all captions":             {tags: `{"10_ohwx": {"1girl": 20, "ohwx": 20, "indoors": 20, "hat": 3}}`, folders: twenty, want: "ohwx"},
		"no tag is in all captions":                 {tags: `{"10_ohwx": {"hat": 19, "dog": 3}}`, folders: twenty},
		"who is there is no trigger":                {tags: `{"10_ohwx": {"1girl": 20, "solo": 20}}`, folders: twenty},
		"two subjects: nobody knows which is meant": {tags: `{"10_ohwx": {"ohwx": 20}, "5_sks": {"sks": 7}}`, folders: `{"10_ohwx": {"img_count": 20}, "5_sks": {"img_count": 7}}`},
		"two folders of one subject":                {tags: `{"10_ohwx": {"near": 20, "ohwx": 20}, "5_far": {"far": 7, "ohwx": 7}}`, folders: `{"10_ohwx": {"img_count": 20}, "5_far": {"img_count": 7}}`, want: "ohwx"},
		"pictures that nobody counted":              {tags: `{"img": {"ohwx": 20, "hat": 3}}`},
		"no JSON":                                   {tags: `{"img": `, folders: twenty},
		"another shape":                             {tags: `["ohwx"]`, folders: `7`},
		"folders that are no objects":               {tags: `{"10_ohwx": 7}`, folders: twenty},
	} {
		meta := api.Metadata{}
		for key, text := range map[string]string{"modelspec.trigger_phrase": c.phrase, "ss_trigger_words": c.list, "ss_tag_frequency": c.tags, "ss_dataset_dirs": c.folders} {
			if text != "" {
				meta[key], _ = json.Marshal(text)
			}
		}
		if got := triggerWords(meta); got != c.want {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
	if got := triggerWords(api.Metadata{"ss_tag_frequency": json.RawMessage(`{"1_p3r": {"p3r": 1}}`), "modelspec.trigger_phrase": json.RawMessage(`7`)}); got != "p3r" {
		t.Errorf("JSON that is no text gives %q", got)
	}
}

func TestSlowFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var triggers Triggers
		for _, file := range []string{"a", "b"} {
			triggers.Of(file)
		}
		var asked []string
		read := func() bool {
			return triggers.Read(t.Context(), slog.New(slog.DiscardHandler), func(ctx context.Context, file string) (api.Metadata, error) {
				if asked = append(asked, file); file == "a" {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return api.Metadata{"modelspec.trigger_phrase": json.RawMessage(`"ink"`)}, nil
			})
		}
		read()
		if !read() || triggers.Of("b") != "ink" {
			t.Error("a file whose server does not answer keeps others from being read")
		}
		for range 3 {
			read()
		}
		if want := []string{"a", "b", "a", "a"}; !slices.Equal(asked, want) {
			t.Errorf("asked for %q, expected %q", asked, want)
		}
	})
}
