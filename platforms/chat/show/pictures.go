package show

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// Catalogue has the tools that can go on with results; the registry is one.
type Catalogue interface {
	Snapshot() *catalog.Snapshot
}

// Picture gives the place, among a run's outputs, of its picture number n, from 1.
func Picture(run runs.Run, n int) (output int, ok bool) {
	for i, o := range run.Outputs {
		if o.Media == "" || o.Type != string(registry.TypeImage) {
			continue
		}
		if n--; n == 0 {
			return i, true
		}
	}
	return 0, false
}

// Only is a run as if the picture number n were all that it had made; 0 is the whole run.
func Only(run runs.Run, n int) (runs.Run, bool) {
	if n == 0 {
		return run, true
	}
	i, ok := Picture(run, n)
	if ok {
		run.Outputs = run.Outputs[i : i+1 : i+1]
	}
	return run, ok
}

// ShowOne shows one picture of a set by itself, with what can be made of it.
func (d *Deliverer) ShowOne(ctx context.Context, on *Platform, v Voice, run runs.Run, n int, where store.Target, trigger *chat.Incoming) error {
	one, ok := Only(run, n)
	if !ok {
		return runs.ErrNotFound
	}
	return d.showAgain(ctx, &showing{out: on.In(where.Chat), say: v, run: v.Read(one), where: where, trigger: trigger, of: n, among: words.Pictures(run)})
}

// numbered is how many pictures of a set have buttons of their own: all or, where there is no room for that, none.
func (s *Platform) numbered(run runs.Run) int {
	n := words.Pictures(run)
	if s.Caps.Buttons.PerRow < rowLength || setRows(n) > s.Caps.Buttons.Rows {
		return 0
	}
	return n
}

// next finds the tools that go on with what a run made: the best for each thing that can be done.
func (d *Deliverer) next(run runs.Run) []store.NextTool {
	i := slices.IndexFunc(run.Outputs, func(o runs.Output) bool { return o.Media != "" })
	if i < 0 || d.tools == nil {
		return nil
	}
	var list []store.NextTool
	for _, f := range d.tools.Snapshot().Following(&run.Tool, run.Outputs[i].Type, registry.Everyone) {
		if !slices.ContainsFunc(list, func(n store.NextTool) bool { return n.Does == f.Does }) {
			_, strength := f.Tool.InputSchema.Strength()
			list = append(list, store.NextTool{Does: f.Does, Tool: f.Tool.ToolID, Strength: strength})
		}
	}
	return list
}

// ResultFiles are a run's files as if somebody had sent them.
func ResultFiles(run runs.Run) []chat.Attachment {
	var files []chat.Attachment
	for _, o := range run.Outputs {
		if o.Media == "" {
			continue
		}
		files = append(files, chat.Attachment{
			Kind: kindOf(o.Type, o.MIMEType, registry.DeliveryHint{}), Name: chat.FirstNonEmpty(o.FileName, o.Name), MIMEType: o.MIMEType,
			Bytes: o.Bytes, Width: o.Width, Height: o.Height, Ref: o.Media,
		})
	}
	return files
}
