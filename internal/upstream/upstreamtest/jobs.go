package upstreamtest

// Jobs is a simulator of a service that works for a while: what it can be made to tell of a job when it is asked, and the
// webhook by which it reports one.
type Jobs interface {
	Fail(faults ...Fault)
	Waiting() int  // faults that no request has met
	Answered() int // requests that are over
	// Jobs lists the ids of all jobs, oldest first.
	Jobs() []string

	Work(id string)      // it is at work
	Finish(id string)    // it succeeded
	Hollow(id string)    // it succeeded, without any output
	Expire(id string)    // it succeeded, and the address of its output has expired: 403
	Uncounted(id string) // it succeeded, and what it cost is not said
	Puzzle(id string)    // its status is a word that nobody knows
	Forget(id string)    // it is not known any more

	// Stopped reports whether the service was told to stop a job by its id, and did.
	Stopped(id string) bool

	// Report is the webhook about a job as it stands; ok is false where the service sends none.
	Report(id string) (report Report, ok bool)
}
