// Memory budgets in bytes: what one account gets, and what a body that turns out larger may still take.
import { expect, test } from "bun:test";
import { Refusal } from "../domain/refusals.ts";
import { ByteRooms, type RoomTerms } from "./byte-rooms.ts";

const words = {
  limit: "bytes",
  tooMuch: () => new Refusal("rate_limit_exceeded", "too much"),
  full: () => new Refusal("overloaded", "full"),
};
const roomsOf = (terms: Partial<RoomTerms> = {}): { rooms: ByteRooms; refused: string[] } => {
  const refused: string[] = [];
  const all = { totalBytes: 1000, bodyBytes: 10, refused: (limit: string) => void refused.push(limit) };
  return { rooms: new ByteRooms({ ...all, ...terms }, words), refused };
};
const statusOf = (act: () => unknown): number | null => {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.status;
    throw error;
  }
};

test("an account gets a quarter where nothing else is said, to the byte, and each refusal is told", () => {
  const { rooms, refused } = roomsOf();
  const room = rooms.take("a", 250);
  expect(statusOf(() => rooms.take("a", 1))).toBe(429);
  expect(statusOf(() => room.grow(1))).toBe(429);
  room.release();
  expect(statusOf(() => rooms.take("a", 251))).toBe(429);
  expect(statusOf(() => rooms.take("a", 250))).toBeNull();
  expect(refused).toEqual(["bytes", "bytes", "bytes"]);
});

test("whoever holds more than a body leaves twice as much free", () => {
  const { rooms } = roomsOf({ shareBytes: 1000 });
  rooms.take("a", 400);
  expect(statusOf(() => rooms.take("b", 301))).toBe(429);
  expect(statusOf(() => rooms.take("b", 300))).toBeNull();
  expect(statusOf(() => rooms.take("c", 151))).toBe(429);
  expect(statusOf(() => rooms.take("c", 10))).toBeNull();
});

test("a body that turns out larger takes what is above its room; where there is none it keeps what it had", () => {
  const { rooms } = roomsOf();
  const room = rooms.take("a", 100);
  expect(room.holds(100)).toBe(true);
  expect(statusOf(() => rooms.take("a", 150).release())).toBeNull();
  expect(room.holds(200)).toBe(true);
  expect(statusOf(() => rooms.take("a", 51))).toBe(429);
  expect(room.holds(251)).toBe(false);
  expect(statusOf(() => rooms.take("a", 50).release())).toBeNull();
  room.release();
  room.release();
  expect(statusOf(() => rooms.take("a", 250))).toBeNull();
});

test("one body fits an account as long as there is room at all; without room for it all together are full", () => {
  const { rooms } = roomsOf({ totalBytes: 20 });
  rooms.take("a", 10);
  expect(statusOf(() => rooms.take("b", 10))).toBeNull();
  expect(statusOf(() => rooms.take("c", 1))).toBe(503);
});
