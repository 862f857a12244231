-- +goose Up

-- What somebody means to buy: made before they are asked to pay, so that what is paid can be held against it.
CREATE TABLE payment_orders (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    source     text NOT NULL CHECK (source IN ('stars', 'stripe', 'discord')),
    product    text NOT NULL,
    currency   text NOT NULL,                                    -- upper case; XTR are Telegram's Stars
    amount     bigint NOT NULL CHECK (amount > 0),               -- in the currency's smallest unit
    credit     bigint NOT NULL CHECK (credit > 0),               -- nano-dollars
    recurring  boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    paid_at    timestamptz                                       -- of a pack: it is paid once; of a subscription: the first time
);
CREATE INDEX payment_orders_of_account ON payment_orders (account_id, created_at DESC);

-- One payment as its source knows it. A refund or dispute may be told of before the payment itself: then the row is there and not paid.
-- What the ledger has of it follows from the facts alone, in whatever order and however often they come.
CREATE TABLE payments (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    number     bigint GENERATED ALWAYS AS IDENTITY UNIQUE,       -- the number of its receipt
    source     text NOT NULL CHECK (source IN ('stars', 'stripe', 'discord', 'voucher')),
    ref        text NOT NULL,                                    -- the source's own id: charge, payment intent, entitlement, voucher
    account_id uuid,                                             -- null: not paid yet
    order_id   uuid REFERENCES payment_orders (id),
    product    text NOT NULL DEFAULT '',
    title      text NOT NULL DEFAULT '',
    currency   text NOT NULL DEFAULT '',
    amount     bigint NOT NULL DEFAULT 0 CHECK (amount >= 0),    -- in the currency's smallest unit
    credit     bigint NOT NULL DEFAULT 0 CHECK (credit >= 0),    -- nano-dollars
    tax        text NOT NULL DEFAULT '',                         -- the tax lines as they were at that time
    subscription text NOT NULL DEFAULT '',                       -- the source's id of the subscription that it pays
    payer      text NOT NULL DEFAULT '',                         -- who paid, by the source's own id, where a refund asks for it
    paid_at    timestamptz,
    -- What the ledger has, in nano-dollars.
    credited   bigint NOT NULL DEFAULT 0,
    returned   bigint NOT NULL DEFAULT 0,                        -- taken back from the wallet by refunds
    absorbed   bigint NOT NULL DEFAULT 0,                        -- refunded though it was spent: the operator's loss
    disputed   bigint NOT NULL DEFAULT 0,                        -- taken by disputes that are open or lost
    step       bigint NOT NULL DEFAULT 0,                        -- counts what was posted, for the keys of transfers
    UNIQUE (source, ref),
    CHECK ((paid_at IS NULL) = (account_id IS NULL)),
    CHECK (credited IN (0, credit) AND returned >= 0 AND absorbed >= 0 AND disputed >= 0 AND returned + absorbed + disputed <= credited)
);
CREATE INDEX payments_of_account ON payments (account_id, paid_at DESC);
CREATE INDEX payments_by_time ON payments (paid_at DESC);

-- Refunds and disputes, as last told. A state of a higher rank has the last word, whichever comes later.
CREATE TABLE payment_changes (
    source     text NOT NULL,
    ref        text NOT NULL,                                    -- the source's own id of the refund or dispute
    payment    uuid NOT NULL REFERENCES payments (id),
    kind       text NOT NULL CHECK (kind IN ('refund', 'dispute')),
    amount     bigint NOT NULL CHECK (amount >= 0),              -- in the payment's smallest unit; 0: the whole
    currency   text NOT NULL DEFAULT '',                         -- of the amount; another than the payment's makes it the whole
    state      text NOT NULL CHECK (state IN ('open', 'done', 'undone')),
    by_whom    text NOT NULL DEFAULT '',                         -- of a refund that an operator began: who
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source, ref)
);
CREATE INDEX payment_changes_of_payment ON payment_changes (payment);

-- Notices that were worked on, so that each is once.
CREATE TABLE payment_notices (
    source  text NOT NULL,
    ref     text NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source, ref)
);
CREATE INDEX payment_notices_by_time ON payment_notices (seen_at);

CREATE TABLE payment_vouchers (
    hash       bytea PRIMARY KEY,                                -- SHA-256 of the code, which has 80 random bits
    hint       text NOT NULL,                                    -- its last letters
    credit     bigint NOT NULL CHECK (credit > 0),
    note       text NOT NULL DEFAULT '',
    by_whom    text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    redeemed_at timestamptz,
    payment    uuid REFERENCES payments (id)
);

-- Wrong codes of an account within the hour.
CREATE TABLE payment_guesses (
    account_id uuid PRIMARY KEY,
    since      timestamptz NOT NULL,
    wrong      integer NOT NULL
);

-- +goose Down

DROP TABLE payment_guesses, payment_vouchers, payment_notices, payment_changes, payments, payment_orders;
