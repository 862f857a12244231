package work

import (
	"testing"
)

// A run that finds all places reserved by a look into the queue has one saved from those that are accepted after it.
func TestNobodyTakesThePlaceOfWhoCameDuringALook(t *testing.T) {
	t.Parallel()
	d := newSlots(2)
	d.start()
	reserved := d.reserve(10)
	if d.Keep("first", "choir", 10) {
		t.Fatal("it was given a place that was reserved")
	}
	d.occupy(reserved, nil, false, nil)      // the look began before the first was there
	d.occupy(d.reserve(10), nil, false, nil) // and so did another
	if !d.Keep("second", "choir", 10) {
		t.Error("there is a place beside that of the first")
	}
	if d.Keep("third", "choir", 10) {
		t.Error("the third has the place of the first")
	}
	d.Queued()
	d.Queued()
	if d.Keep("fourth", "choir", 10) {
		t.Error("the fourth overtakes the first")
	}
	select {
	case <-d.Wake:
	default:
		t.Error("nobody looks for the first")
	}
	d.Leave("second")
	d.occupy(d.reserve(10), []claimed{{ID: "first"}}, false, nil)
	d.Queued()
	d.occupy(d.reserve(10), nil, false, nil)
	if !d.Keep("fifth", "choir", 10) {
		t.Error("the queue is empty, and there is a place")
	}
}

// What comes while no place is free is looked for when one is.
func TestALookFollowsTheNextFreePlace(t *testing.T) {
	t.Parallel()
	d := newSlots(1)
	d.start()
	d.Keep("first", "choir", 10)
	d.Keep("second", "choir", 10)
	d.Queued()
	if d.reserve(10) != 0 {
		t.Fatal("the place is given away twice")
	}
	d.Leave("first")
	select {
	case <-d.Wake:
	default:
		t.Error("nobody looks for the second")
	}
	d.occupy(d.reserve(10), []claimed{{ID: "second"}}, true, map[string]bool{"choir": true})
	if d.Keep("third", "choir", 10) {
		t.Error("more may lie in the queue")
	}
}

// Runs are accepted before the slots open and after they have closed, too.
func TestQueueingAtClosedSlots(t *testing.T) {
	t.Parallel()
	d := newSlots(1)
	d.Keep("early", "choir", 10)
	d.Queued()
	d.start()
	d.close()
	<-d.idle
	d.Keep("late", "choir", 10)
	d.Queued()
}

// Where the last look found nothing the next may be later, unless something has come into the queue from here.
func TestTheQueueIsLookedAtWhileRunsMayWait(t *testing.T) {
	t.Parallel()
	d := newSlots(2)
	d.start()
	looks := func(services map[string]bool) {
		d.occupy(d.reserve(10), nil, false, services)
	}
	if looks(map[string]bool{}); d.mayWait() {
		t.Error("nothing was found")
	}
	if looks(map[string]bool{"choir": false}); !d.mayWait() {
		t.Error("a service has runs there, though none that it had room for")
	}
	looks(map[string]bool{})
	if d.wait("choir"); !d.mayWait() {
		t.Error("a run was put back")
	}
	looks(map[string]bool{})
	d.Keep("first", "choir", 10)
	d.Keep("second", "choir", 10)
	if !d.mayWait() {
		t.Error("all slots are taken: news of runs is not followed by a look")
	}
}
