// Package store keeps in Postgres what chats must not forget in a restart: what the buttons of a message are about
// (chat_keyboards), questions that wait for an answer (chat_prompts, chat_questions), messages that people may come back to
// (chat_marks), how far the delivery of a result has come (chat_deliveries), and how often tools are used (chat_uses).
package store
