// Package locks lists all advisory locks that the program takes in its database, so that no two things share a key.
package locks

// Those of one number are the same for everybody; the others are taken for one name each, $1, in a key space of its own.
const (
	Migrations int64 = 0x5349474e414c // one program at a time changes the schema; it differs from goose's own, which is taken inside it
	Backup     int64 = 0xbac0         // while a backup is made, no file is deleted
	Figures    int64 = 0xf19          // one process at a time counts the figures of times that are over
	History    int64 = 0x7e615e6      // one machine at a time records what changed in the catalogue

	Account    = `hashtextextended($1, 7001)` // limits of an account are checked one run after the other (migration 0030, in SQL)
	Worker     = `hashtextextended($1, 7002)` // the sign of life of a process that works on runs
	Router     = `hashtextextended($1, 7003)` // the sign of life of a process that answers chats (platforms/chat/router)
	Owner      = `hashtextextended($1, 7004)` // files of one owner with a limit are stored one after the other
	Asset      = `hashtextextended($1, 7005)` // storing and deleting one asset
	Knowledge  = `hashtextextended($1, 7020)` // reading one source of knowledge again
	Mission    = `hashtextextended($1, 7007)` // the sign of life of a process that works on missions
	Export     = `hashtextextended($1, 7008)` // the sign of life of a process that makes archives of what people have
	Peer       = `hashtextextended($1, 7009)` // the sign of life of a process among its peers
	Looker     = `hashtextextended($1, 7011)` // the sign of life of a process that has a model look at images
	Report     = `hashtextextended($1, 7010)` // reports about one result are written one after the other
	RemoteTool = `hashtextextended($1, 7006)` // registering one tool
)
