import { expect, test } from "bun:test";
import { outbound } from "./outbound-settings.ts";

test("the address carries the credentials as an address has to write them", () => {
  const written = { proxy: "http://proxy.example:3128", proxy_user: "us@er", proxy_password: "p:a/ß" };
  expect(outbound.parse(written)).toEqual({
    proxy: { url: "http://us%40er:p%3Aa%2F%C3%9F@proxy.example:3128/", except: [] },
  });
  expect(
    outbound.parse({ proxy: "https://proxy.example", no_proxy: ["inside.example", "10.0.0.0/8"] }),
  ).toEqual({
    proxy: { url: "https://proxy.example/", except: ["inside.example", "10.0.0.0/8"] },
  });
  expect(outbound.parse({})).toEqual({ proxy: null });
});

test.each<[string, object, string]>([
  ["credentials in the address", { proxy: "http://u:p@proxy.example" }, "without credentials"],
  ["a path", { proxy: "http://proxy.example/pac" }, "must not have a path"],
  ["another kind of proxy", { proxy: "socks5://proxy.example" }, "must be an http"],
  ["a user without a password", { proxy: "http://proxy.example", proxy_user: "u" }, "set together"],
  ["exceptions without a proxy", { no_proxy: ["a.example"] }, "is required beside"],
  [
    "an exception with a port",
    { proxy: "http://proxy.example", no_proxy: ["a.example:443"] },
    "must be a host name",
  ],
])("refused: %s", (_, written, message) => {
  expect(outbound.safeParse(written).error?.issues[0]?.message).toContain(message);
});
