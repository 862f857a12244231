-- +goose Up

-- The number of the last receipt: they are one series without gaps. A payment gets the next one in the transaction that books it; until then
-- it has a negative one. A trigger does it, so that the version before does so as well.
CREATE TABLE payment_receipts (last bigint NOT NULL);

-- +goose StatementBegin
CREATE FUNCTION payment_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.paid_at IS NULL THEN
        NEW.number := -abs(NEW.number);
    ELSIF TG_OP = 'INSERT' OR OLD.paid_at IS NULL THEN
        UPDATE payment_receipts SET last = last + 1 RETURNING last INTO NEW.number;
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER payment_number BEFORE INSERT OR UPDATE OF paid_at ON payments FOR EACH ROW EXECUTE FUNCTION payment_number();

-- From here on nobody else books anything before this step is done.
INSERT INTO payment_receipts SELECT coalesce(max(number), 0) FROM payments WHERE paid_at IS NOT NULL;
UPDATE payments SET paid_at = NULL WHERE paid_at IS NULL; -- these get negative ones

-- +goose Down

DROP TRIGGER payment_number ON payments;
DROP FUNCTION payment_number();
DROP TABLE payment_receipts;
