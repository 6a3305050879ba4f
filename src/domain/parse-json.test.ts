import { expect, test } from "bun:test";
import fc from "fast-check";
import { refusalOf } from "../gateway/formats/chat-completions/chat-request.fixtures.ts";
import { parseJson, parseRequestJson, type ReadRequest } from "./parse-json.ts";
import { ReceivedBody } from "./received-body.ts";
import { referenceParse } from "./parse-json.reference.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const bytes = (...parts: (string | number)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? encode(part) : Uint8Array.of(part))));
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** hardening.md §2.4, and the neighbours of each line. */
const REFUSED: Record<string, Uint8Array> = {
  "an empty body": bytes(),
  blanks: encode(" \n"),
  "a trailing comma": encode('{"a":1,}'),
  "text after the value": encode("{}x"),
  "two values": encode("{} {}"),
  "NaN, which JavaScript knows": encode('{"a":NaN}'),
  Infinity: encode("[-Infinity]"),
  "a comment": encode('{"a":1/* one */}'),
  "a cut-off object": encode('{"a":"b'),
  "a string cut inside an escape": encode('["a\\'),
  "single quotes": encode("{'a':1}"),
  "a bare key": encode("{a:1}"),
  "a raw line break in a string": encode('["a\nb"]'),
  "a number with a leading zero": encode("[01]"),
  "two byte order marks": bytes(0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, "{}"),
  "a byte order mark inside": encode("[\ufeff1]"),
  "the byte 0xFF": bytes('["', 0xff, '"]'),
  "an overlong encoding": bytes('["', 0xc0, 0xaf, '"]'),
  "a character cut in half": bytes('["', 0xe2, 0x82, '"]'),
  "a surrogate encoded as UTF-8": bytes('["', 0xed, 0xa0, 0x80, '"]'),
  "UTF-16": Uint8Array.from(Buffer.from('{"a":1}', "utf16le")),
  "a raw NUL": bytes('["a', 0, '"]'),
  "NUL as an escape": encode('["a\\u0000b"]'),
  "NUL as an escape in a key": encode('{"a\\u0000":1}'),
  "NUL after an escaped backslash": encode('["\\\\\\u0000"]'),
  "a lone high surrogate": encode('["\\ud83d"]'),
  "a lone low surrogate": encode('["\\uDE00 x"]'),
  "surrogates in the wrong order": encode('["\\ude00\\ud83d"]'),
  "a lone surrogate in a nested key": encode('[{"\\udfff":{}}]'),
  "depth 65": encode(nested(65)),
  "depth 65 of objects": encode('{"a":'.repeat(65) + "1" + "}".repeat(65)),
  "depth 200,000": encode(nested(200_000)),
  "200,000 opened and never closed": encode("[".repeat(200_000)),
  "1e400": encode('{"max_tokens":1e400}'),
  "-1e400": encode("[[-1e400]]"),
  "an integer past 2^53 - 1": encode('{"seed":9007199254740992}'),
  "an integer that would be rounded": encode('{"seed":-9007199254740993}'),
  "a key twice": encode('{"model":"a","model":"b"}'),
  "a key twice with equal values": encode('{"a":1,"b":2,"a":1}'),
  "a key twice in a nested object": encode('[{"x":[{"a":1,"a":1}]}]'),
  "a key twice, once written as an escape": encode('{"model":1,"\\u006dodel":2}'),
  "__proto__ twice": encode('{"a":{"__proto__":1,"__proto__":2}}'),
  "the empty key twice": encode('{"":1,"":2}'),
};

for (const [what, body] of Object.entries(REFUSED)) {
  test(`${what} is refused as invalid_json`, () => {
    const refusal = refusalOf(() => parseJson(body));
    expect(refusal.code).toBe("invalid_json");
    expect(refusal.message).toStartWith("The request body is not acceptable JSON: ");
  });
}

test("one byte order mark is skipped", () => {
  expect(parseJson(bytes(0xef, 0xbb, 0xbf, '{"a":1}'))).toEqual({ a: 1 });
});

test("what is odd but unmistakable is accepted", () => {
  for (const text of [
    '{"a:b":"{\\"c\\":[1,2]}","d":"\\\\"}',
    '{"a":{"k":1},"b":{"k":1}}',
    '["\\\\u0000", "\\ud83d\\ude00", "\\"", "\\\\\\"", ""]',
    '{"constructor":{"prototype":1}}',
    "[9007199254740991, -9007199254740991, 1.5e10, -0, 1e-400]",
    ' \t\r\n{ "a" : [ ] , "b" : { } } ',
    nested(64),
    '"text"',
    "null",
  ])
    expect(parseJson(encode(text))).toEqual(JSON.parse(text));
});

test("__proto__ stays visible at the top, where it is refused by name, and is dropped below", () => {
  const body = parseJson(
    encode('{"__proto__":{"polluted":1},"a":[{"__proto__":{"polluted":1},"b":2}]}'),
  ) as object;
  expect(Object.keys(body)).toEqual(["__proto__", "a"]);
  const escaped = parseJson(encode('{"a":{"\\u005f_proto__":{"polluted":1},"b":2}}'));
  for (const [value, kept] of [
    [body, '"a":[{"b":2}]'],
    [escaped, '{"a":{"b":2}}'],
  ] as const)
    expect(JSON.stringify(value)).toContain(kept);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

/** JSON text made of its own pieces, so that most of it is nearly right. */
const pieces = fc
  .array(
    fc.constantFrom(
      ...'{ } [ ] : , " \\ a 1 - . e 0 \\u0000 \\ud83d \\ude00 \\u0041 true null 1e999 9007199254740993'.split(
        " ",
      ),
      '"a":',
      '"a"',
      '{"a":1}',
      '"__proto__":',
      " ",
      "\n",
      "é",
      "😀",
      "\ufeff",
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(""));

/** Valid JSON in one of its many spellings, sometimes with a member doubled. */
const spelled = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom("", " ", "\n\t"), fc.boolean())
  .map(([value, blank, double]) => {
    const text = JSON.stringify(value, null, blank);
    return double ? text.replace(/("(?:[^"\\]|\\.)*"\s*:)/, "$1 0,$1") : text;
  });

test("it accepts exactly what a plain parser written by the rules accepts, with the same value", () => {
  fc.assert(
    fc.property(fc.oneof(pieces, spelled), (text) => {
      const expected = referenceParse(text);
      if (expected === null) expect(refusalOf(() => parseJson(encode(text))).code).toBe("invalid_json");
      else expect(JSON.stringify(parseJson(encode(text)))).toBe(JSON.stringify(expected.value));
    }),
    { numRuns: 3_000 },
  );
});

const readRequest = (text: string): ReadRequest => parseRequestJson(new ReceivedBody(encode(text)));

/** Where a request holds schemas and arguments, on each surface. */
const opaque = (inside: string): string[] => [
  `{"tools":[{"type":"function","function":{"name":"f","parameters":${inside}}}]}`,
  `{"response_format":{"type":"json_schema","json_schema":{"schema":${inside}}}}`,
  `{"tools":[{"name":"f","input_schema":${inside},"input_examples":[${inside}]}]}`,
  `{"messages":[{"content":"a"},{"content":[{"type":"tool_use","input":${inside}}]}]}`,
  `{"output_config":{"format":{"schema":${inside}}}}`,
  `{"tools":[{"parameters":${inside}},{"type":"namespace","tools":[{"parameters":${inside}}]}]}`,
  `{"text":{"format":{"schema":${inside}}}}`,
];
const LARGE = ["175928847299117063", "175928847299117060", "-9007199254740993", "9007199254740992"];
const LARGEST = ["3.4028234663852886e+38", "1.7976931348623157e+308", "-1.0E300"];

test("schemas and arguments of a request keep numbers that no double holds, as they were written", () => {
  for (const number of [...LARGE, ...LARGEST])
    for (const text of opaque(`{"a":${number},"b":[{"c":[1,${number}]}]}`)) {
      expect(JSON.stringify(readRequest(text).value)).toBe(text);
      expect(refusalOf(() => parseJson(encode(text))).message).toContain("beyond 2^53 - 1");
    }
});

test.each([
  '{"max_tokens":N}',
  '{"temperature":N,"tools":[]}',
  '{"seed":[N]}',
  '{"logit_bias":{"1":N}}',
  '{"metadata":{"a":N}}',
  '{"thinking":{"budget_tokens":N}}',
  '{"messages":[{"content":[{"input":N}]}]}',
  '{"messages":[{"content":[{"input":[N]}]}]}',
  '{"messages":[{"content":N}]}',
  '{"messages":[{"input":{"a":N}}]}',
  '{"tools":[{"parameters":N}]}',
  '{"tools":[{"strict":N,"parameters":{"a":N}}]}',
  '{"input":[N]}',
  '{"input":{"a":N}}',
  "N",
  "[N]",
])("elsewhere a request is refused for them in the same words: %s", (shape) => {
  for (const number of [...LARGE, ...LARGEST, "1e400"]) {
    const text = shape.replaceAll("N", number);
    expect(refusalOf(() => readRequest(text))).toEqual(refusalOf(() => parseJson(encode(text))));
  }
});

test("beside such numbers all else is looked at as ever, and what nobody can read is refused", () => {
  for (const inside of [
    '{"a":1e400}',
    '{"a":[-1e400]}',
    '{"a":N,"a":N}',
    '{"a":N,"b":"\\u0000"}',
    '{"a":01,"b":N}',
  ])
    for (const text of opaque(inside.replaceAll("N", "175928847299117063")))
      expect(refusalOf(() => readRequest(text)).code).toBe("invalid_json");
  const [text = ""] = opaque('{"a":175928847299117063,"__proto__":{"b":1}}');
  expect(JSON.stringify(readRequest(text).value)).toBe(text.replace(',"__proto__":{"b":1}', ""));
});

test("a body of a million values is not read for one such number", () => {
  const many = (values: number): string =>
    `{"tools":[{"parameters":{"a":9007199254740993,"b":[${"1,".repeat(values)}1]}}]}`;
  expect(readRequest(many(1000)).value).toBeObject();
  expect(refusalOf(() => readRequest(many(1_000_000))).code).toBe("too_many_values");
});

test("a request without such numbers is read as every body is", () => {
  fc.assert(
    fc.property(fc.oneof(pieces, spelled), (text) => {
      const expected = referenceParse(text);
      if (expected === null) expect(refusalOf(() => readRequest(text)).code).toBe("invalid_json");
      else expect(readRequest(text).value).toEqual(parseJson(encode(text)));
    }),
    { numRuns: 2_000 },
  );
});

test("random bytes end in a value or in invalid_json, never in anything else", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (body) => {
      try {
        parseJson(body);
      } catch (error) {
        expect(error).toHaveProperty("code", "invalid_json");
      }
    }),
    { numRuns: 1_000 },
  );
});
