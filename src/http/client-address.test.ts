import { describe, expect, test } from "bun:test";
import { parseNetwork } from "../lib/networks.ts";
import { ClientAddress } from "./client-address.ts";

const PROXY = "10.0.0.2";
const behind = new ClientAddress(["10.0.0.0/8", "fd00::/8", "192.0.2.1"]);

describe("the client's address", () => {
  for (const [what, forwarded, expected] of [
    ["what the proxy saw", "203.0.113.9", "203.0.113.9"],
    ["not what the client wrote to the left of it", "1.2.3.4, 203.0.113.9", "203.0.113.9"],
    ["through two proxies of ours", "203.0.113.9, 10.0.0.3", "203.0.113.9"],
    ["through a proxy that is trusted by its address", "203.0.113.9, 192.0.2.1", "203.0.113.9"],
    ["not past a proxy of somebody else", "198.51.100.7, 203.0.113.9", "203.0.113.9"],
    ["IPv6", "2001:DB8::9", "2001:db8::9"],
    ["IPv6 with a port", "[2001:db8::9]:443", "2001:db8::9"],
    ["IPv4 with a port", "203.0.113.9:50000", "203.0.113.9"],
    ["of a client inside", "10.9.9.9", "10.9.9.9"],
    ["the proxy's without the header", null, PROXY],
  ] as const)
    test(`is ${what}`, () => expect(behind.of(PROXY, forwarded)).toBe(expected));

  for (const garbage of [
    "",
    " ",
    ",",
    "unknown",
    "_hidden",
    "203.0.113.9 203.0.113.10",
    "999.1.1.1",
    "1.2.3",
    "0x7f000001",
    "fe80::1%eth0",
    "[::1",
    "::1]:80",
    "<script>",
    "' OR 1=1--",
    `${"9".repeat(8000)}`,
    ",".repeat(8000),
  ])
    test(`is the proxy's behind garbage: ${JSON.stringify(garbage.slice(0, 30))}`, () =>
      expect(behind.of(PROXY, garbage)).toBe(PROXY));

  test("is the last one that can be read, when garbage stands to its left", () => {
    expect(behind.of(PROXY, "garbage, 10.0.0.7")).toBe("10.0.0.7");
    expect(behind.of(PROXY, "garbage, 203.0.113.9")).toBe("203.0.113.9");
  });

  test("is the peer's, whatever it says, when the peer is no proxy of ours", () => {
    expect(behind.of("203.0.113.50", "198.51.100.1")).toBe("203.0.113.50");
    expect(new ClientAddress([]).of(PROXY, "198.51.100.1")).toBe(PROXY);
    expect(behind.of(null, "198.51.100.1")).toBeNull();
  });

  test("is found behind a proxy whose IPv4 address comes inside an IPv6 one", () => {
    expect(behind.of(`::ffff:${PROXY}`, "203.0.113.9")).toBe("203.0.113.9");
  });
});

test("a network is an address with or without a prefix", () => {
  for (const good of ["10.0.0.0/8", "127.0.0.1", "::1", "fd00::/8", "0.0.0.0/0"])
    expect([good, parseNetwork(good) !== null]).toEqual([good, true]);
  for (const bad of [
    "",
    "10.0.0.0/33",
    "::/129",
    "10.0.0/8",
    "loopback",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/-1",
  ])
    expect([bad, parseNetwork(bad)]).toEqual([bad, null]);
});
