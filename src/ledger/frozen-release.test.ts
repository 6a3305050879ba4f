// A stored release compared with what was signed. A difference is refused by name; a field that an older JWS lacks is not.
import { expect, test } from "bun:test";
import { NO_CAPABILITIES } from "../domain/capabilities.ts";
import { freezeRelease } from "../domain/freeze-release.ts";
import { exactPrice } from "../domain/price.ts";
import type { Manifest, Release } from "../domain/release.ts";
import { printFrozenRelease, storedRelease } from "./frozen-release.ts";

const MANIFEST: Manifest = {
  model: "m",
  provider: "p",
  upstream_model: "u",
  region: "r",
  route: "m@p/r",
  version: 1,
  tier: "standard",
  requires_paid: false,
  context_window: 1000,
  max_output_tokens: 100,
  default_output_tokens: 100,
  pricing: { currency: "USD", input_per_million: "0.50", output_per_million: "1.50", request_minimum: "0" },
  reasoning: { modes: ["low", "high"], default: "low" },
  tokenizer: "bytes",
  capabilities: NO_CAPABILITIES,
  remote_images: false,
  defaults: {},
  priority: 1,
  weight: 100,
};

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function signed(release: object): { jws: string; manifest: string } {
  const claims = { release, iat: 1, exp: 2 };
  const jws = `${part({ alg: "EdDSA", kid: "k" })}.${part(claims)}.AA`;
  const digest = new Bun.CryptoHasher("sha256").update(jws).digest("hex");
  const seal = { digest, signedBy: "k", issuedAtMs: 1000, expiresAtMs: 2000 };
  return { jws, manifest: printFrozenRelease(freezeRelease(MANIFEST, seal)) };
}

test("a stored release that matches what was signed is read", () => {
  expect(storedRelease("it", signed(MANIFEST))).toMatchObject({
    route: "m@p/r",
    price: { input: 500_000_000n },
  });
});

test("a release signed before a field existed is read as it was frozen", () => {
  const { priority: _, capabilities, ...older } = MANIFEST;
  const { logit_bias: __, ...fewer } = capabilities;
  const row = signed({ ...older, capabilities: fewer });
  expect(storedRelease("it", row)).toMatchObject({ priority: 1, capabilities: NO_CAPABILITIES });
});

test("a stored release with any one character changed is refused, and the error names only the release", () => {
  const { jws, manifest } = signed(MANIFEST);
  const believed = Array.from(manifest).flatMap((character, at) => {
    const other = /[0-9]/.test(character) ? String((Number(character) + 1) % 10) : "~";
    const damaged = `${manifest.slice(0, at)}${other}${manifest.slice(at + 1)}`;
    try {
      storedRelease("it", { jws, manifest: damaged });
      return [damaged];
    } catch (error) {
      expect(String(error)).toStartWith("UnreadableRecord: it cannot be read: ");
      return [];
    }
  });
  // A changed name of a field whose value is null is equivalent to a missing field.
  expect(believed.filter((damaged) => !/"[^"]*~[^"]*":null/.test(damaged))).toEqual([]);
});

test("the digest covers every character of what was signed", () => {
  const { jws, manifest } = signed(MANIFEST);
  for (let at = 0; at < jws.length; at++) {
    const other = `${jws.slice(0, at)}${jws[at] === "A" ? "B" : "A"}${jws.slice(at + 1)}`;
    expect(() => storedRelease("it", { jws: other, manifest })).toThrow("it cannot be read");
  }
});

test("a release with classes is read with all its prices, and not at all by a program that knows no classes", () => {
  const pricing = {
    ...MANIFEST.pricing,
    cache_write_per_million: "0.625",
    service_tiers: { flex: "0.5" },
    tiers: [
      {
        above_prompt_tokens: 200,
        input_per_million: "1",
        cache_write_per_million: "1.25",
        output_per_million: "3",
      },
    ],
  };
  const row = signed({ ...MANIFEST, pricing });
  const manifest = printFrozenRelease({
    ...(JSON.parse(row.manifest) as Release),
    publishedPrice: pricing,
    price: exactPrice(pricing),
  });
  expect(storedRelease("it", { ...row, manifest }).price).toEqual(exactPrice(pricing));
  // Older programs compare the rates that they know with those of the stored text.
  expect(JSON.parse(manifest)).toMatchObject({ price: null });
});
