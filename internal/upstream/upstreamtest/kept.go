package upstreamtest

import (
	"slices"
	"sync"
	"testing"
)

// Kept are the jobs that a simulator keeps. Its handlers hold Mu while they look at All and at what Find gives.
type Kept[J any] struct {
	Mu  sync.Mutex
	All []*J // oldest first

	t  testing.TB
	id func(*J) string
}

// NewKept keeps no jobs yet. id is that of a job.
func NewKept[J any](t testing.TB, id func(*J) string) *Kept[J] { return &Kept[J]{t: t, id: id} }

// Find gives the job of an id, or nil.
func (k *Kept[J]) Find(id string) *J {
	for _, job := range k.All {
		if k.id(job) == id {
			return job
		}
	}
	return nil
}

// List gives all jobs as they are now, oldest first.
func (k *Kept[J]) List() []J {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	list := make([]J, len(k.All))
	for i, job := range k.All {
		list[i] = *job
	}
	return list
}

// Jobs lists the ids of all jobs, oldest first.
func (k *Kept[J]) Jobs() []string {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	var ids []string
	for _, job := range k.All {
		ids = append(ids, k.id(job))
	}
	return ids
}

// Change moves a job on.
func (k *Kept[J]) Change(id string, change func(*J)) {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	job := k.Find(id)
	if job == nil {
		k.t.Errorf("there is no job %s", id)
		return
	}
	change(job)
}

// Forget loses a job, as a service does that deletes what is old or was restarted: whoever asks for it hears that there is none.
func (k *Kept[J]) Forget(id string) {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	k.All = slices.DeleteFunc(k.All, func(job *J) bool { return k.id(job) == id })
}
