// opencode as it is, pointed at the gateway by `tollgate setup`: it edits a file through its tools, on every shape of upstream.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { House, modelOn, SHAPES } from "./house.ts";
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
/** Nothing that is fetched or sent besides the models' calls. */
const QUIET = {
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
};

test.each(SHAPES)("edits a file, by chat completions, on an upstream of the shape %s", async (shape) => {
  await house.at(async (workplace) => {
    await house.setUp(workplace, "opencode");
    const edit = { filePath: workplace.notes, oldString: "red", newString: "blue" };
    house.script(
      [{ name: "read", arguments: { filePath: workplace.notes } }],
      [{ name: "edit", arguments: edit }],
    );
    const ran = await workplace.run(
      [opencode, "run", "-m", `tollgate/${modelOn(shape)}`, "Make the colour in notes.txt blue"],
      { ...QUIET, TOLLGATE_KEY: house.customer.secret },
    );
    const asked = house.expectDone(workplace, ran, [NPM]);
    expect(new Set(asked.map(({ path }) => path))).toEqual(new Set(["/v1/chat/completions"]));
    expect(asked.filter(({ body }) => body?.["tools"] !== undefined)).toHaveLength(3);
  });
});
