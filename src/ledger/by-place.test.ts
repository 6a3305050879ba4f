import { expect, test } from "bun:test";
import { ByPlace } from "./by-place.ts";

test("each place is looked up once, whatever the order of places", () => {
  const places = ["a", "b"].flatMap((organizationId) =>
    ["", "k"].flatMap((keyId) => ["", "m"].map((model) => ({ organizationId, keyId, model }))),
  );
  const found = new ByPlace<string>();
  let lookups = 0;
  const find = (place: (typeof places)[number]): string =>
    found.get({ ...place }, () => {
      lookups += 1;
      return Object.values(place).join();
    });
  for (const place of [...places, ...places.toReversed(), ...places.flatMap((one) => [one, one])])
    expect(find(place)).toBe(Object.values(place).join());
  expect(lookups).toBe(places.length);
  found.forget();
  for (const place of places) find(place);
  expect(lookups).toBe(2 * places.length);
});
