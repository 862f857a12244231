package words

import "github.com/signalbox/signalbox/internal/i18n"

// What people are called who never said a name: who sits at the machine, and who has the operator's token. Accounts keep it in
// English; see PersonName.
const (
	LocalUser = "Local user"
	Operator  = "Operator"
)

// PersonName is somebody's name in a reader's language, which matters for those who never said one.
func PersonName(v i18n.Voice, name string) string {
	switch name {
	case LocalUser:
		return v.Line("person.local")
	case Operator:
		return v.Line("person.operator")
	}
	return name
}
