// Exactness: whatever a table contains, a manifest states the exact product with the markup, rounded up once
// to nine decimals; checked against rationals of integers.
import { expect, test } from "bun:test";
import {
  compareDecimals,
  perMillion,
  printDecimal,
  product,
  quotient,
  readDecimal,
  toNinePlaces,
} from "./decimal.ts";
import { decimalOf, memberOf, readTableJson } from "./json.ts";

/** An exact fraction, computed independently from the written digits. */
function fractionOf(literal: string): [bigint, bigint] {
  const [mantissa = "", power = "0"] = literal.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const exponent = Number(power) - fraction.length;
  const digits = BigInt(whole + fraction);
  return exponent < 0 ? [digits, 10n ** BigInt(-exponent)] : [digits * 10n ** BigInt(exponent), 1n];
}

let seed = 20_261_123;
function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
  return (seed >>> 8) % below;
}
const digits = (most: number): string => String(random(10 ** most));
function literal(): string {
  const whole = digits(1 + random(4));
  const fraction =
    random(3) === 0 ? "" : `.${Array.from({ length: 1 + random(12) }, () => random(10)).join("")}`;
  const power =
    random(2) === 0 ? "" : `${random(2) === 0 ? "e" : "E"}${["", "+", "-"][random(3)]}0${random(15)}`;
  return whole + fraction + power;
}

test("a price with a markup is the exact product, rounded up to nine decimals, over 20,000 literals", () => {
  for (let i = 0; i < 20_000; i++) {
    const [price, markup] = [literal(), literal()];
    const read = decimalOf(memberOf(readTableJson(`{"price": ${price}}`, "table"), "price"));
    const factor = readDecimal(markup);
    if (read === null || factor === null) throw new Error(`${price} or ${markup} was not read`);
    const said = printDecimal(toNinePlaces(product(perMillion(read), factor)));
    const [[a, b], [c, d]] = [fractionOf(price), fractionOf(markup)];
    const [numerator, denominator] = [a * c * 1_000_000n * 1_000_000_000n, b * d];
    const nano = (numerator + denominator - 1n) / denominator;
    const text = nano.toString().padStart(10, "0");
    const expected = `${text.slice(0, -9)}.${text.slice(-9)}`.replace(/\.?0+$/, "");
    if (said !== expected) throw new Error(`${price} × ${markup}: ${said}, not ${expected}`);
  }
});

test("floats that are inexact in binary are read as written", () => {
  const perMillionOf = (text: string): string => {
    const read = decimalOf(readTableJson(text, "table"));
    if (read === null) throw new Error(`${text} was not read`);
    return printDecimal(perMillion(read));
  };
  expect(1.36e-6 * 1e6).not.toBe(1.36);
  expect(perMillionOf("1.36e-06")).toBe("1.36");
  expect(perMillionOf("1.1e-06")).toBe("1.1");
  expect(perMillionOf("2.8E-7")).toBe("0.28");
  expect(perMillionOf("5.46875e-07")).toBe("0.546875");
  expect(perMillionOf("0.00000015")).toBe("0.15");
  expect(perMillionOf("3e+2")).toBe("300000000");
});

test("invalid amounts are refused: signs, NaN, an endless exponent, more digits than any price has", () => {
  for (const text of [
    "-1",
    "+1",
    "NaN",
    "Infinity",
    "",
    "1e400",
    "1e-400",
    "0x10",
    "1_000",
    "1".repeat(50),
    "1.",
  ])
    expect(readDecimal(text)).toBeNull();
});

test("quotients are rounded up, and division by zero has none", () => {
  const [two, three, none] = ["2", "3", "0"].map((text) => readDecimal(text));
  if (!two || !three || !none) throw new Error("not read");
  expect(printDecimal(quotient(two, three) ?? none)).toBe("0.666666667");
  expect(quotient(two, none)).toBeNull();
  expect(compareDecimals(two, three)).toBeLessThan(0);
});
