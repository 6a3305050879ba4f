// What is sent is what is priced (money.md §6).
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Message } from "../../domain/chat-request.ts";
import { FIELD_SAMPLES, type FieldSample } from "../../domain/request-fields.fixtures.ts";
import { ANY, isPricedAsSent } from "../priced-body.fixtures.ts";
import { DIALECTS } from "./dialects.ts";
import { outgoing, samplesHeld } from "./outgoing-body.fixtures.ts";

const DATA = "A".repeat(1000);

isPricedAsSent({
  extra: fc.record({ acme: ANY.json }),
  remoteImages: false,
  how: fc.constantFrom(...Object.values(DIALECTS)),
  prepare: (request, dialect) =>
    outgoing(request, { reasoningEffort: "high", identifiers: { user: "u".repeat(43) } }, dialect),
  weightless: "address",
  slack: 20,
  ceilingOf: ({ max_tokens: ceiling, max_completion_tokens: other }) => ceiling ?? other,
  // A message's role and the names of its fields are its frame, which has its flat overhead.
  read({ messages, tools, response_format: format, stop, logit_bias: bias }) {
    const said = (messages as Message[]).map(({ role: _role, ...fields }) => Object.values(fields));
    return [said, tools, format, stop, bias];
  },
});

test("a plain field is in the exact count where it has text that is no setting", () => {
  const textWith = (held: FieldSample["held"], fields: Record<string, unknown>): string =>
    outgoing(
      { [held]: fields },
      held === "identifiers" ? { identifiers: samplesHeld.identifiers } : {},
    ).text();
  for (const [name, { held, given, setting }] of FIELD_SAMPLES) {
    const counted = setting !== true && (typeof given === "string" || typeof given === "object");
    const text = textWith(held, { [name]: given }).slice(0, -textWith("forwarded", {}).length);
    expect([name, text]).toEqual([name, counted ? JSON.stringify(given) : ""]);
  }
});

test("the exact count reads text as the model does, and the data of inline images not at all", () => {
  const url = `data:image/png;base64,${DATA}`;
  const body = outgoing({
    images: 1,
    messages: [
      { role: "user", content: 'a "b"\n' },
      { role: "user", content: [{ type: "image_url", image_url: { url } }] },
    ],
  });
  expect(body.text()).toStartWith('a "b"\n');
  expect(body.text()).not.toContain(DATA);
  expect(body.size).toMatchObject({ messages: 2, tools: 0, images: 1 });
});

test("a data address in a schema is text like any other", () => {
  const schema = { url: `data:image/png;base64,${DATA}` };
  const body = outgoing({ tools: [{ type: "function", function: { name: "f", parameters: schema } }] });
  expect(body.size.bytes).toBeGreaterThan(DATA.length);
  expect(body.text()).toContain(DATA);
});
