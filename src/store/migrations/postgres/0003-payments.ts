// Money that goes back, orders and cards, on PostgreSQL. From here on, lines of the audit log may come
// without an id: those of the dashboard and of payments are written in SQL that both stores share.
import { PAYMENTS_TABLES } from "../0003-payments.ts";
import { inPostgres } from "./in-postgres.ts";

export const POSTGRES_PAYMENTS_SCHEMA = `
${inPostgres(PAYMENTS_TABLES)}
REVOKE UPDATE, DELETE, TRUNCATE ON reversal FROM CURRENT_USER;

-- As the gateway makes them: rising with time, in milliseconds.
ALTER TABLE audit_log ALTER COLUMN id SET DEFAULT
  'aud_' || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
  || substr(replace(gen_random_uuid()::text, '-', ''), 13);
`;
