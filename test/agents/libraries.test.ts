// Unmodified libraries, given only an address and a key: a tool loop that edits a file, streamed and whole, on every
// upstream shape. Each is a separate program, which imports what its group has installed.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { House, modelOn, SHAPES, type Shape } from "./house.ts";
import { installed } from "./installed.ts";

/** By the file of its program: its requests per turn, and the form of its address. */
const LIBRARIES = {
  "anthropic-sdk": {
    path: "/v1/messages",
    address: "ANTHROPIC_BASE_URL",
    key: "ANTHROPIC_API_KEY",
    root: "",
  },
  "ai-sdk-openai": { path: "/v1/responses", address: "OPENAI_BASE_URL", key: "OPENAI_API_KEY", root: "/v1" },
  "openai-agents": { path: "/v1/responses", address: "OPENAI_BASE_URL", key: "OPENAI_API_KEY", root: "/v1" },
} as const;
type Library = keyof typeof LIBRARIES;
const NAMES = Object.keys(LIBRARIES) as Library[];

let house: House;
let modules = "";
beforeAll(async () => {
  modules = await installed("libraries");
  for (const name of NAMES) copyFileSync(join(import.meta.dir, "libraries", `${name}.mjs`), programOf(name));
  house = await House.open();
}, 300_000);
afterAll(() => house.close());

const programOf = (name: Library): string => join(modules, "..", `${name}.mjs`);

/** Its own tool loop requests a stored conversation, and continues without one. */
const THREADS = [400];

/** What each program prints. */
interface Told {
  text: string;
  /** The pieces of the text, as they came. */
  deltas: string;
  /** Of each turn. */
  usages: { input_tokens: number; output_tokens: number }[];
  /** Also, for one that can count and list. */
  counted?: number;
  listed?: string[];
}

const CASES = NAMES.flatMap((name) =>
  SHAPES.flatMap((shape) =>
    [false, true].map((streamed): [Library, Shape, boolean] => [name, shape, streamed]),
  ),
);

test.each(CASES)(
  "%s edits a file on an upstream of the shape %s (streamed: %p)",
  async (name, shape, streamed) => {
    const { path, address, key, root } = LIBRARIES[name];
    await house.at(async (workplace) => {
      const billed = house.gateway.simulator.bill().length;
      house.script([{ name: "edit_file", arguments: { from: "red", to: "blue" } }]);
      const ran = await workplace.run([process.execPath, programOf(name)], {
        [address]: `${house.url}${root}`,
        [key]: house.customer.secret,
        MODEL: modelOn(shape),
        STREAMED: streamed ? "1" : "0",
        NOTES: workplace.notes,
      });
      const asked = house.expectDone(workplace, ran, {
        refused: !streamed && name === "anthropic-sdk" ? THREADS : [],
      });
      const told = JSON.parse(ran.out) as Told;
      expect(asked.filter((one) => one.path.split("?")[0] === path && one.status === 200)).toHaveLength(2);
      expect(told.text).toMatch(/\w+/);
      expect(told.deltas).toBe(told.text);
      const bill = house.gateway.simulator.bill().slice(billed);
      expect(told.usages.map(({ output_tokens }) => output_tokens)).toEqual(
        bill.map(({ completion_tokens }) => completion_tokens),
      );
      if (told.listed !== undefined) expect(told.listed).toContain(modelOn(shape));
      if (streamed && told.counted !== undefined)
        // its own loop sends the tool with a type
        expect(told.counted).toBeGreaterThanOrEqual(told.usages[0]?.input_tokens ?? Number.POSITIVE_INFINITY);
    });
  },
);
