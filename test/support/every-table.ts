// Inserts a row into each table that the calls of one test do not fill: for one organization and one person.
import type { Disk } from "./damage.ts";

/** `running`: an unfinished request, which the quarantine names. */
export async function fillEveryTable(
  disk: Disk,
  { org, person, running, no }: { org: string; person: string; running: string; no: "0" | "FALSE" },
): Promise<void> {
  const made = [
    // Disabled: otherwise the watch, which runs every 15 seconds, would delete alerts for a subject that does not
    // exist.
    `INSERT INTO alert_rule (rule_id, org_id, kind, percent, channels, enabled, created_at, last_fired_at)
     VALUES ('alr_1', '${org}', 'key_limit', 50, '["chn_1"]', 0, 1, 1)`,
    `INSERT INTO alert_channel (channel_id, org_id, kind, name, target, secret, created_at)
     VALUES ('chn_1', '${org}', 'webhook', 'Pager', 'https://example.com/', 'AAAA', 1)`,
    `INSERT INTO alert_state (rule_id, subject, crossing_id, since) VALUES ('alr_1', 'x', 'crs_1', 1)`,
    // With the current time: an old one would be swept away.
    `INSERT INTO alert_delivery (delivery_id, org_id, rule_id, channel_id, kind, text, payload, state, tries, status, created_at)
     VALUES ('msg_1', '${org}', 'alr_1', 'chn_1', 'key_limit', 'words', '{}', 'delivered', 1, 200, ${Date.now()})`,
    `INSERT INTO alert_attempt (delivery_id, n, at, duration_ms, status) VALUES ('msg_1', 1, 1, 1, 200)`,
    `INSERT INTO provider_breaker (provider, reason, opened_by, opened_at) VALUES ('elsewhere', 'words', 'usr_1', 1)`,
    `INSERT INTO auto_top_up (org_id, enabled, threshold, amount, failures, last_failure, failed_at)
     VALUES ('${org}', 0, 1000000000, 5000000000, 1, 'words', 1)`,
    `INSERT INTO payment_order (order_id, org_id, driver, purpose, amount, currency, state, session_id, created_by, created_at)
     VALUES ('ord_1', '${org}', 'manual', 'checkout', 5000000000, 'usd', 'open', 's', '${person}', 1)`,
    `INSERT INTO payment_event (driver, event_id, type, org_id, order_id, outcome, deliveries, received_at)
     VALUES ('manual', 'evt_1', 'paid', '${org}', 'ord_1', 'ignored', 1, 1)`,
    `INSERT INTO payment_method (org_id, driver, customer_id, method_id, label, saved_at)
     VALUES ('${org}', 'manual', 'c', 'm', 'card', 1)`,
    `INSERT INTO reversal (org_id, source, external_id, kind, target, amount, balance_after, debt_after, txn, at)
     VALUES ('${org}', 'manual', 'rev_1', 'refund', 'pi', 1, 1, 0, 1, 1)`,
    `INSERT INTO device_login (id, device_digest, user_digest, state, host, version, asked_at, expires_at, interval_ms)
     VALUES ('dev_1', 'a', 'b', 'open', 'host', '1', 1, 1, 1)`,
    `INSERT INTO receipt_key (kid, x, retired_at) VALUES ('kid_1', 'x', 1)`,
    `INSERT INTO audit_carried (id, carried_at) VALUES ('out_1', ${Date.now()})`,
    `INSERT INTO device_try (place, at) VALUES ('somewhere', 1)`,
    `INSERT INTO entitlement_note (entitlement_id, purpose, wanted_until, note)
     SELECT id, 'words', 1, 'words' FROM entitlement`,
    `INSERT INTO quarantine (org_id, request_id, reason, since) VALUES ('${org}', '${running}', 'damaged', 1)`,
    // Already resumed: the organization's calls are not stopped.
    `INSERT INTO stopped_organization (org_id, violations, base, resumed_at, resumed_by, resumed_reason)
     VALUES ('${org}', '[]', '{}', 1, 'usr_1', 'words')`,
  ];
  for (const statement of made) await disk.rows("ledger", statement);
  const ofPeople = [
    `INSERT INTO ${disk.named("people", "passkey")}
       (id, name, "publicKey", "userId", "credentialID", counter, "deviceType", "backedUp", transports, "createdAt", aaguid)
     VALUES ('pky_1', 'key', 'k', '${person}', 'c', 0, 'singleDevice', ${no}, 'usb', '2026-01-01T00:00:00.000Z', 'a')`,
    `INSERT INTO ${disk.named("people", "organizationRule")} (id, "organizationId", "requireTwoFactor")
     VALUES ('rule_1', '${org}', ${no})`,
  ];
  for (const statement of ofPeople) await disk.rows("people", statement);
}
