// The unmodified Claude Code, pointed at the gateway by `tollgate setup`: it edits a file through its tools, on every
// upstream shape.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { House, KNOWN, modelOn, SHAPES, SHORT_MODEL } from "./house.ts";
import { program } from "./installed.ts";
import type { Workplace } from "./workplace.ts";

let house: House;
let claude = "";
beforeAll(async () => {
  claude = await program("@anthropic-ai/claude-code-{platform}/claude");
  house = await House.open();
}, 300_000);
afterAll(() => house.close());

/** `IS_SANDBOX`: a container's administrator may let it work without asking. */
const QUIET = {
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  IS_SANDBOX: "1",
};

const command = ({ home }: Workplace): string[] => [
  claude,
  "--settings",
  join(home, ".claude", "tollgate.json"),
  "--dangerously-skip-permissions",
  "-p",
  "Make the colour in notes.txt blue",
];

async function editsBy(model: string): Promise<void> {
  await house.at(async (workplace) => {
    await house.setUp(workplace, "claude-code", "--model", model);
    const file_path = workplace.notes;
    house.script(
      [{ name: "Read", arguments: { file_path } }],
      [{ name: "Edit", arguments: { file_path, old_string: "red", new_string: "blue" } }],
    );
    const ran = await workplace.run(command(workplace), { ...QUIET, TOLLGATE_KEY: house.customer.secret });
    const asked = house.expectDone(workplace, ran);
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(
      Array(3).fill("POST /v1/messages?beta=true"),
    );
  });
}

test.each(SHAPES)("edits a file, by messages, on an upstream of the shape %s", (shape) =>
  editsBy(modelOn(shape)),
);

test.each(KNOWN.claude)(
  "edits a file on the model %s, whose name it knows, on an upstream of the shape %s",
  (model) => editsBy(model),
);

test("without credits it is told so, once", async () => {
  const poor = await house.gateway.customer({ usd: "0" });
  await house.at(async (workplace) => {
    await house.setUp(workplace, "claude-code", "--model", modelOn("openai"));
    const ran = await workplace.run(command(workplace), { ...QUIET, TOLLGATE_KEY: poor.secret });
    expect(house.expectUnpaid(ran)).toBe(1);
  });
});

test("when a context is larger than it assumed, it gets the gateway's message in its own words", async () => {
  await house.at(async (workplace) => {
    await house.setUp(workplace, "claude-code", "--model", SHORT_MODEL);
    const settings = join(workplace.home, ".claude", "tollgate.json");
    const written = readFileSync(settings, "utf8");
    const wrong = written.replace(/("CLAUDE_CODE_MAX_CONTEXT_TOKENS": )"\d+"/, '$1"200000"');
    expect(wrong).not.toBe(written);
    writeFileSync(settings, wrong);
    house.script();
    const ran = await workplace.run(command(workplace), { ...QUIET, TOLLGATE_KEY: house.customer.secret });
    const asked = house.expectFull(ran, "Prompt is too long");
    expect(ran.code).toBe(1);
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([400]));
  });
});
