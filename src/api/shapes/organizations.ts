// All organizations, as operators see and create them.
import { z } from "zod";
import { ROLES } from "../../domain/roles.ts";
import { count, email, line, listOf, time, usd, version, page } from "./fields.ts";

export const organization = z.object({
  id: z.string(),
  name: z.string(),
  created_at: time,
  paid_workspace: z.boolean(),
  available_usd: usd,
  held_usd: usd,
  debt_usd: usd,
  spend_30d_usd: usd,
  keys: count,
  members: count,
  last_request_at: time.nullable(),
  open_entitlements: count,
  version,
});
export const organizationList = listOf(organization);
/** Ids of organizations that share their name with another. */
export const namesakeList = z.object({ data: z.array(z.string()) });
export const organizationsQuery = z.strictObject({ ...page, search: z.string().max(200).optional() });
export const renameOrganizationInput = z.strictObject({ name: line(), version });
/** How the first owner of an organization is invited. */
export const inviteOwnerInput = z.strictObject({ email, role: z.enum(ROLES).default("owner") });
