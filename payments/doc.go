// Package payments is how money comes in: products as data, orders, what was paid, refunded and disputed, vouchers.
//
// What a source of money tells is kept as facts by the source's own ids: a payment, a refund, a dispute. Facts may come twice, late and in any
// order. After each one the payment is settled, in the same transaction: what the ledger should have of it follows from its facts, and the
// difference to what the ledger has is posted. So the books end the same whatever the order.
//
// The rule: a refund takes credit back in proportion to the money, rounded down, and at most what the wallet has; what was spent
// is the operator's loss. A dispute takes the credit of the disputed part at once, what the wallet lacks is owed, and nothing runs until that
// is paid or the dispute is won. Only a dispute makes a debt.
//
// Sources are apart from this: package stripe here, platforms/telegram and platforms/discord for theirs; they are wired in cmd.
package payments
