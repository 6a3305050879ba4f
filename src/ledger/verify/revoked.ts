// What was revoked beside the lines that tell of it (I15 of money.md §5): the same question to both stores.

/**
 * Keys of which the audit log says that they were revoked, and which would be let in, or be resumed. Organization, key, what should
 * be, what is.
 */
export const REVIVED = `
  SELECT l.org_id, l.target, 'revoked', 'in use' FROM audit_log l
  JOIN api_key k ON k.org_id = l.org_id AND k.key_id = l.target
  WHERE l.action = 'key.revoke' AND (k.revoked_at IS NULL OR k.paused_at IS NOT NULL)
  UNION ALL
  SELECT NULL, l.target, 'revoked', 'in use' FROM audit_log l
  JOIN management_key m ON m.id = l.target
  WHERE l.action = 'management_key.revoke' AND m.revoked_at IS NULL`;
