import { expect, test } from "bun:test";
import { networkOf } from "./networks.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:0201", "192.0.2.1"],
  ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:0DB8:0001:0002:ffff:0:0:9", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["1:2:3:4:5:6:7:8", "1:2:3:4::/64"],
  ["unknown", "unknown"],
])("%s is counted as %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test("a site's networks count as one if requested", () => {
  expect(["2001:db8:1:2::1", "2001:db8:1:3::1"].map((address) => networkOf(address, 48))).toEqual([
    "2001:db8:1::/48",
    "2001:db8:1::/48",
  ]);
  expect(networkOf("192.0.2.1", 48)).toBe("192.0.2.1");
});
