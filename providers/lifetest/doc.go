// Package lifetest has whole runs at every service whose simulator can misbehave: by a real runs service and a real inbox
// on Postgres, with each switch of the simulator. Whatever happens, a run ends right, once, at the right price.
package lifetest
