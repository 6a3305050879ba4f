// Which dispute or refund an event of a payment service tells of: a dispute can take its money, give it back, and take it
// again. Null on events of before, and on those that an older gateway notes.
export const DISPUTE_MOVES_SCHEMA = `
ALTER TABLE payment_event ADD COLUMN reversal_id TEXT;
CREATE INDEX payment_event_reversal ON payment_event (driver, reversal_id) WHERE reversal_id IS NOT NULL;
`;
