import { expect, test } from "bun:test";
import { listeningAddress } from "./listening-address.ts";

test.each([
  ["127.0.0.1", "http://127.0.0.1:8080"],
  ["gateway.local", "http://gateway.local:8080"],
  ["::1", "http://[::1]:8080"],
  ["0.0.0.0", "http://127.0.0.1:8080"],
  ["::", "http://[::1]:8080"],
])("%s is reached at %s", (host, address) => {
  expect(listeningAddress({ host, port: 8080 })).toBe(address);
});
