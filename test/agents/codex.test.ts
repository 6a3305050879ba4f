// The unmodified Codex, pointed at the gateway by `tollgate setup`: it edits a file through its tools, on every
// upstream shape.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { House, KNOWN, modelOn, SHAPES, SHORT_MODEL } from "./house.ts";
import { program } from "./installed.ts";

let house: House;
let codex = "";
beforeAll(async () => {
  codex = await program("@openai/codex-{platform}/vendor/*/bin/codex");
  house = await House.open();
}, 300_000);
afterAll(() => house.close());

const QUIET = [
  "analytics.enabled=false",
  "check_for_update_on_startup=false",
  "features.plugins=false",
].flatMap((setting) => ["-c", setting]);
const FREE = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];

const command = (): string[] => [
  codex,
  "exec",
  "--profile",
  "tollgate",
  ...QUIET,
  ...FREE,
  "Make the colour in notes.txt blue",
];

test.each(SHAPES)("edits a file, by responses, on an upstream of the shape %s", async (shape) => {
  await house.at(async (workplace) => {
    await house.setUp(workplace, "codex", "--model", modelOn(shape));
    const run = (cmd: string) => [{ name: "exec_command", arguments: { cmd } }];
    house.script(run("cat notes.txt"), run("sed -i s/red/blue/ notes.txt"));
    const ran = await workplace.run(command(), { TOLLGATE_KEY: house.customer.secret });
    const asked = house.expectDone(workplace, ran);
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(Array(3).fill("POST /v1/responses"));
    const last = asked.at(-1)?.body?.["input"] as { type: string }[];
    const types = last.map(({ type }) => type).filter((type) => type !== "message");
    expect(types.filter((type) => type !== "reasoning")).toEqual([
      "function_call",
      "function_call_output",
      "function_call",
      "function_call_output",
    ]);
  });
});

test.each(KNOWN.codex)(
  "edits a file on the model %s, whose name it knows, on an upstream of the shape %s",
  async (model) => {
    await house.at(async (workplace) => {
      await house.setUp(workplace, "codex", "--model", model);
      const cmd = "sed -i s/red/blue/ notes.txt";
      const script = `text(await tools.exec_command(${JSON.stringify({ cmd })}))`;
      // Newer ones get a tool that runs programs, which an item of the conversation offers.
      const call =
        model === "gpt-5.5"
          ? { name: "exec_command", arguments: { cmd } }
          : { name: "functions__exec", arguments: { input: script } };
      house.script([call]);
      const ran = await workplace.run(command(), { TOLLGATE_KEY: house.customer.secret });
      const asked = house.expectDone(workplace, ran);
      expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(
        Array(2).fill("POST /v1/responses"),
      );
    });
  },
);

test("without credits it is told so, three times at most", async () => {
  const poor = await house.gateway.customer({ usd: "0" });
  await house.at(async (workplace) => {
    await house.setUp(workplace, "codex", "--model", modelOn("openai"));
    const ran = await workplace.run(command(), { TOLLGATE_KEY: poor.secret });
    expect(house.expectUnpaid(ran)).toBeLessThanOrEqual(3);
  });
});

test("a full context is reported in its own words", async () => {
  await house.at(async (workplace) => {
    await house.setUp(workplace, "codex", "--model", SHORT_MODEL);
    house.script();
    const ran = await workplace.run(command(), { TOLLGATE_KEY: house.customer.secret });
    const asked = house.expectFull(ran, "context window");
    expect([ran.code, asked.length]).toEqual([1, 1]);
  });
});
