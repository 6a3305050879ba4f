// The unmodified opencode, pointed at the gateway by `tollgate setup`: it edits a file through its tools, on every
// upstream shape.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { House, modelOn, SHAPES, type Shape } from "./house.ts";
import { program } from "./installed.ts";

let house: House;
let opencode = "";
beforeAll(async () => {
  opencode = await program("opencode-{platform}/bin/opencode");
  house = await House.open();
}, 300_000);
afterAll(() => house.close());

/** It looks there for its plugin's package. */
const NPM = "registry.npmjs.org:443";
/** Turns off everything fetched or sent besides the models' calls. */
const QUIET = {
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
};

/** By the package that talks to it: the path of its calls. */
const SURFACES = {
  "@ai-sdk/openai-compatible": "/v1/chat/completions",
  "@ai-sdk/openai": "/v1/responses",
  "@ai-sdk/anthropic": "/v1/messages",
};
const CASES = Object.entries(SURFACES).flatMap(([npm, path]) =>
  SHAPES.map((shape): [string, Shape, string] => [path, shape, npm]),
);

test.each(CASES)("edits a file by %s, on an upstream of the shape %s", async (path, shape, npm) => {
  await house.at(async (workplace) => {
    await house.setUp(workplace, "opencode");
    choose(join(workplace.home, "config", "opencode", "opencode.json"), npm);
    const edit = { filePath: workplace.notes, oldString: "red", newString: "blue" };
    house.script(
      [{ name: "read", arguments: { filePath: workplace.notes } }],
      [{ name: "edit", arguments: edit }],
    );
    const ran = await workplace.run(
      [opencode, "run", "-m", `tollgate/${modelOn(shape)}`, "Make the colour in notes.txt blue"],
      { ...QUIET, TOLLGATE_KEY: house.customer.secret },
    );
    const asked = house.expectDone(workplace, ran, { tried: [NPM] });
    expect(new Set(asked.map((one) => one.path))).toEqual(new Set([path]));
    const turns = asked.filter(({ body }) => ((body?.["tools"] ?? []) as unknown[]).length > 0);
    expect(turns).toHaveLength(3);
  });
});

/** Puts another package into what `setup` wrote, as our documentation describes. */
function choose(file: string, npm: string): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("@ai-sdk/openai-compatible", npm));
}
