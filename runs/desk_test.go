package runs

import "testing"

// A run that finds all places reserved by a look into the queue has one saved from those that are accepted after it.
func TestNobodyTakesThePlaceOfWhoCameDuringALook(t *testing.T) {
	t.Parallel()
	d := newDesk(2)
	d.start()
	reserved := d.reserve(10)
	if d.keep("first", "choir", 10) {
		t.Fatal("it was given a place that was reserved")
	}
	d.occupy(reserved, nil, false, nil)      // the look began before the first was there
	d.occupy(d.reserve(10), nil, false, nil) // and so did another
	if !d.keep("second", "choir", 10) {
		t.Error("there is a place beside that of the first")
	}
	if d.keep("third", "choir", 10) {
		t.Error("the third has the place of the first")
	}
	d.queued()
	d.queued()
	if d.keep("fourth", "choir", 10) {
		t.Error("the fourth overtakes the first")
	}
	select {
	case <-d.wake:
	default:
		t.Error("nobody looks for the first")
	}
	d.leave("second")
	d.occupy(d.reserve(10), []claimed{{ID: "first"}}, false, nil)
	d.queued()
	d.occupy(d.reserve(10), nil, false, nil)
	if !d.keep("fifth", "choir", 10) {
		t.Error("the queue is empty, and there is a place")
	}
}

// What comes while no place is free is looked for when one is.
func TestALookFollowsTheNextFreePlace(t *testing.T) {
	t.Parallel()
	d := newDesk(1)
	d.start()
	d.keep("first", "choir", 10)
	d.keep("second", "choir", 10)
	d.queued()
	if d.reserve(10) != 0 {
		t.Fatal("the place is given away twice")
	}
	d.leave("first")
	select {
	case <-d.wake:
	default:
		t.Error("nobody looks for the second")
	}
	d.occupy(d.reserve(10), []claimed{{ID: "second"}}, true, map[string]bool{"choir": true})
	if d.keep("third", "choir", 10) {
		t.Error("more may lie in the queue")
	}
}

// Runs are accepted before the desk opens and after it has closed, too.
func TestQueueingAtAClosedDesk(t *testing.T) {
	t.Parallel()
	d := newDesk(1)
	d.keep("early", "choir", 10)
	d.queued()
	d.start()
	d.close()
	<-d.idle
	d.keep("late", "choir", 10)
	d.queued()
}
