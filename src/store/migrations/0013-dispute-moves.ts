// The dispute or refund that an event of a payment service belongs to: a dispute can take its money,
// give it back, and take it again. Null on earlier events and on those recorded by an older gateway.
export const DISPUTE_MOVES_SCHEMA = `
ALTER TABLE payment_event ADD COLUMN reversal_id TEXT;
CREATE INDEX payment_event_reversal ON payment_event (driver, reversal_id) WHERE reversal_id IS NOT NULL;
`;
