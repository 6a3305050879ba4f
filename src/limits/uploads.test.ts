// Upload budgets in bytes: how much each kind of body can use up, and whose.
import { expect, test } from "bun:test";
import { Refusal } from "../domain/refusals.ts";
import { SMALL_BODY_BYTES, STRANGER_BODY_BYTES, Uploads } from "./uploads.ts";

const MEGABYTE = 1024 * 1024;
const BODY = 8 * MEGABYTE;
const refused: string[] = [];
const rooms = (totalBytes = 128 * MEGABYTE): Uploads =>
  new Uploads({ totalBytes, bodyBytes: BODY, refused: (limit) => void refused.push(limit) });

/** How a body of 64 KiB of each kind takes its room. */
const KINDS = {
  small: (uploads: Uploads, account: string) => void uploads.take(account, SMALL_BODY_BYTES),
  large: (uploads: Uploads, account: string) => uploads.take(account, null).grow(SMALL_BODY_BYTES),
  strangers: (uploads: Uploads, account: string) =>
    uploads.strangers.take(account, null).grow(SMALL_BODY_BYTES),
};
type Kind = keyof typeof KINDS;

/** As much as an account gets, in bytes, and how the next body is refused. */
function fill(uploads: Uploads, account: string, kind: Kind): { bytes: number; status: number } {
  for (let bytes = 0; ; bytes += SMALL_BODY_BYTES)
    try {
      KINDS[kind](uploads, account);
    } catch (error) {
      if (error instanceof Refusal) return { bytes, status: error.status };
      throw error;
    }
}

test("a body that takes room as it comes takes none before, and gives all of it back", () => {
  const uploads = rooms();
  for (let n = 0; n < 1_000; n += 1) uploads.take("org_1", null);
  const room = uploads.take("org_2", null);
  const before = fill(rooms(), "org_3", "large");
  for (let n = 0; n < 100; n += 1) {
    room.grow(BODY);
    room.release();
  }
  expect(fill(uploads, "org_3", "large")).toEqual(before);
  expect(before.bytes).toBeWithin(BODY, 32 * MEGABYTE);
});

test.each<[Kind, number]>([
  ["small", 10],
  ["large", 4],
  ["strangers", 10],
])("whoever comes finds room beside others who hold all that they get: %s, beside %d", (kind, others) => {
  const uploads = rooms();
  for (let n = 0; n < others; n += 1) expect(fill(uploads, `greedy_${n}`, kind).status).toBe(429);
  KINDS[kind](uploads, "modest");
});

test("neither large bodies nor strangers use up the room of small ones; all together stay within the bound", () => {
  const uploads = rooms();
  let bytes = 0;
  for (let n = 0; n < 2_000; n += 1)
    bytes += fill(uploads, `org_${n}`, "large").bytes + fill(uploads, `net_${n}`, "strangers").bytes;
  KINDS.small(uploads, "modest");
  for (let n = 0; n < 2_000; n += 1) bytes += fill(uploads, `org_${n}`, "small").bytes;
  expect(bytes + SMALL_BODY_BYTES).toBe(128 * MEGABYTE);
  for (const kind of ["small", "large", "strangers"] as const)
    expect(fill(uploads, "late", kind)).toEqual({ bytes: 0, status: 503 });
  expect(new Set(refused)).toEqual(new Set(["upload_bytes"]));
});

test("one body of each kind fits where the setting is smaller than it", () => {
  const uploads = rooms(1024);
  uploads.take("org_1", null).grow(BODY);
  uploads.take("org_1", SMALL_BODY_BYTES);
  uploads.strangers.take("net_1", null).grow(STRANGER_BODY_BYTES);
});
