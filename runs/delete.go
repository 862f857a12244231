package runs

import (
	"context"
	"regexp"

	"github.com/signalbox/signalbox/registry"
)

// Remover is a Deliverer that can take back what it showed of a run: one of its outputs, or everything (AllOutputs).
type Remover interface {
	Remove(ctx context.Context, run Run, output int) error
}

// AllOutputs is everything that was shown of a run.
const AllOutputs = -1

// Without is an output whose content was deleted.
func (o Output) Without() Output {
	return Output{Name: o.Name, Type: o.Type, MIMEType: o.MIMEType, Deleted: true}
}

// Hashes are the hashes of files in a text.
var Hashes = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// WithoutFiles is how a run is told whose files were let go of: results are marked, inputs that were files are gone.
func (r *Run) WithoutFiles() {
	for i, o := range r.Outputs {
		if o.Media != "" {
			r.Outputs[i] = o.Without()
		}
	}
	for name, value := range r.Inputs {
		if len(FilesIn(value)) > 0 {
			delete(r.Inputs, name)
		}
	}
}

// FilesIn are the hashes of the stored files that an input's value is.
func FilesIn(value any) (hashes []string) {
	switch v := value.(type) {
	case string:
		if registry.IsMediaRef(v) {
			return Hashes.FindAllString(v, -1)
		}
	case []any:
		for _, item := range v {
			hashes = append(hashes, FilesIn(item)...)
		}
	}
	return hashes
}
