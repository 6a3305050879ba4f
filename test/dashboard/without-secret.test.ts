// A key typed or pasted into a search, however it was copied, loses its secret.
import { expect, test } from "bun:test";
import { withoutSecret } from "../../dashboard/format/without-secret.ts";

const KEY = `gw_sk_${"a".repeat(24)}`;
const MANAGEMENT = `gw_mk_${"b".repeat(12)}`;
const SECRET = "S3cret".repeat(8);

for (const [pasted, kept] of [
  [` ${KEY}${SECRET} `, KEY],
  [`Bearer ${KEY}${SECRET}`, `Bearer ${KEY}`],
  [`OPENAI_API_KEY="${MANAGEMENT}${SECRET}"`, `OPENAI_API_KEY="${MANAGEMENT}"`],
  [`${KEY}${SECRET},${MANAGEMENT}${SECRET}`, `${KEY},${MANAGEMENT}`],
  ["Nightly batch", "Nightly batch"],
] as const)
  test(`of ${pasted.trim().slice(0, 24)}… it keeps ${kept}`, () => {
    expect(withoutSecret(pasted)).toBe(kept);
  });
