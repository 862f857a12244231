package runs

import "testing"

// A run that finds all places reserved by a look into the queue comes before those that are accepted after it.
func TestNobodyOvertakesWhoCameDuringALook(t *testing.T) {
	t.Parallel()
	d := newDesk(2)
	d.start()
	reserved := d.reserve(10)
	if d.keep("first") {
		t.Fatal("it was given a place that was reserved")
	}
	d.occupy(reserved, nil)      // the look began before the first was there
	d.occupy(d.reserve(10), nil) // and so did another
	if d.keep("second") {
		t.Error("the second overtakes the first")
	}
	d.queued()
	d.queued()
	select {
	case <-d.wake:
	default:
		t.Error("nobody looks for the first")
	}
	d.occupy(d.reserve(10), []string{"first", "second"}[:1])
	if !d.keep("third") {
		t.Error("the queue is empty, and there is a place")
	}
}

// Runs are accepted before the desk opens and after it has closed, too.
func TestQueueingAtAClosedDesk(t *testing.T) {
	t.Parallel()
	d := newDesk(1)
	d.keep("early")
	d.queued()
	d.start()
	d.close()
	<-d.idle
	d.keep("late")
	d.queued()
}
