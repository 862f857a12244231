package cpu

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// item is one accepted prompt.
type item struct {
	number  any // int64 from the counter, or the float64 that the client gave
	id      string
	prompt  *pyval.Dict
	extra   *pyval.Dict // without secrets
	outputs []string    // output nodes to execute
	seq     int64       // order of arrival
}

// list is the form in which queue and history show an item.
func (it *item) list() []any {
	return []any{it.number, it.id, it.prompt, it.extra, pyval.Normalize(it.outputs)}
}

// queue holds the prompts that wait, the one that runs, and those that are over.
type queue struct {
	hub *hub
	max int // history entries kept

	mu          sync.Mutex
	wake        *sync.Cond
	pending     prompts
	running     *item
	history     *pyval.Dict // *entry by prompt id
	size        int         // bytes of all entries
	closed      bool
	free        bool
	interrupted bool
	counter     int64
	now         func() time.Time
	seq         int64
}

// entry is one finished prompt.
type entry struct {
	item *item
	end  outcome
	size int // bytes it takes as JSON
	at   time.Time
}

// maxHistoryBytes bounds what all finished prompts take together, as JSON: bodies may be large.
const maxHistoryBytes = 256 << 20

func newQueue(maxHistory int, h *hub) *queue {
	q := &queue{hub: h, max: maxHistory, history: &pyval.Dict{}, now: time.Now}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// take gives the next number of the counter.
func (q *queue) take() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.counter
	q.counter++
	return n
}

func (q *queue) put(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it.seq = q.seq
	q.seq++
	q.pending.push(it)
	q.tell()
	q.wake.Signal()
}

// prompts is a binary heap that moves its items exactly as Python's heapq does, because GET /queue shows them in the
// order of the heap.
type prompts []*item

func (p *prompts) push(it *item) {
	*p = append(*p, it)
	p.up(0, len(*p)-1)
}

func (p *prompts) pop() *item {
	last := len(*p) - 1
	first := (*p)[0]
	(*p)[0] = (*p)[last]
	*p = (*p)[:last]
	if last > 0 {
		p.down(0)
	}
	return first
}

// order makes a heap of any list.
func (p *prompts) order() {
	for i := len(*p)/2 - 1; i >= 0; i-- {
		p.down(i)
	}
}

// up moves the item at i towards the root, not beyond start.
func (p *prompts) up(start, i int) {
	h := *p
	it := h[i]
	for i > start {
		parent := (i - 1) / 2
		if earlier(it, h[parent]) >= 0 {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = it
}

// down moves the item at i along the smaller children to a leaf, and from there up to its place.
func (p *prompts) down(i int) {
	h := *p
	start, it := i, h[i]
	for child := 2*i + 1; child < len(h); child = 2*i + 1 {
		if right := child + 1; right < len(h) && earlier(h[child], h[right]) >= 0 {
			child = right
		}
		h[i] = h[child]
		i = child
	}
	h[i] = it
	p.up(start, i)
}

// earlier orders by number, then id, then arrival.
func earlier(a, b *item) int {
	order, _ := pyval.Compare(a.number, b.number)
	return cmp.Or(order, cmp.Compare(a.id, b.id), cmp.Compare(a.seq, b.seq))
}

// next waits for a prompt and makes it the running one. ok is false when the queue is closed.
func (q *queue) next() (it *item, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pending) == 0 && !q.closed {
		q.wake.Wait()
	}
	if q.closed {
		return nil, false
	}
	it = q.pending.pop()
	q.running = it
	q.interrupted = false
	q.tell()
	return it, true
}

// finish moves the running prompt into the history. An id that is there already keeps its place.
func (q *queue) finish(it *item, end outcome) {
	en := &entry{item: it, end: end, at: q.now()}
	en.size = len(pyval.Dumps(en.show()))
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = nil
	if older, again := q.history.At(it.id).(*entry); again {
		q.size -= older.size
	}
	q.history.Set(it.id, en)
	q.size += en.size
	for q.history.Len() > 1 && (q.history.Len() > q.max || q.size > maxHistoryBytes) {
		q.remove(q.history.Keys()[0])
	}
	q.tell()
}

// remove takes an entry out of the history.
func (q *queue) remove(id string) {
	if en, ok := q.history.At(id).(*entry); ok {
		q.size -= en.size
		q.history.Delete(id)
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake.Broadcast()
}

// tell broadcasts the number of prompts left. It is called with the lock held, so that the frames are in order.
func (q *queue) tell() { q.hub.broadcast("status", statusOf(q.left())) }

func (q *queue) left() int {
	n := len(q.pending)
	if q.running != nil {
		n++
	}
	return n
}

// remaining counts the waiting prompts and the running one.
func (q *queue) remaining() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.left()
}

// snapshot gives the running prompt, or nil, and the waiting ones: the next one first, the others as the heap has them.
func (q *queue) snapshot() (running *item, pending []*item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, slices.Clone(q.pending)
}

// drop removes the first waiting prompt of that id.
func (q *queue) drop(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, it := range q.pending {
		if it.id == id {
			q.pending = slices.Delete(q.pending, i, i+1)
			q.pending.order()
			q.tell()
			return
		}
	}
}

// clear removes all waiting prompts.
func (q *queue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = nil
	q.tell()
}

// interrupt stops the running prompt at its next node; with an id only if that is the one that runs.
func (q *queue) interrupt(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if id == "" || (q.running != nil && q.running.id == id) {
		q.interrupted = true
	}
}

// takeInterrupt reports, once, that the running prompt was interrupted.
func (q *queue) takeInterrupt() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.interrupted
	q.interrupted = false
	return was
}

// askFree has the cached results dropped before the next prompt.
func (q *queue) askFree() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free = true
}

func (q *queue) takeFree() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.free
	q.free = false
	return was
}

// entries gives all finished prompts, oldest first.
func (q *queue) entries() []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]*entry, 0, q.history.Len())
	for _, id := range q.history.Keys() {
		out = append(out, q.history.At(id).(*entry))
	}
	return out
}

// entry gives one finished prompt, or nil.
func (q *queue) entry(id string) *entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, _ := q.history.At(id).(*entry)
	return e
}

func (q *queue) forget(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(id)
}

func (q *queue) forgetAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.history, q.size = &pyval.Dict{}, 0
}
