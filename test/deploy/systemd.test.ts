// `deploy/systemd/tollgate.service`, checked by systemd itself and against the settings that it must fit.
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { runToEnd } from "../support/program.ts";

const unit = readFileSync(join(import.meta.dir, "../../deploy/systemd/tollgate.service"), "utf8");
const setting = (name: string): string => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";

const analyze = Bun.which("systemd-analyze");
if (analyze === null)
  console.warn("systemd.test.ts: the unit is not verified here: there is no systemd-analyze");

/** systemd's complaints about the unit, with a program that every machine has. */
async function complaints(text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-unit-"));
  try {
    const file = join(folder, "tollgate.service");
    writeFileSync(file, text.replace("/usr/local/bin/tollgate", "/bin/sh"));
    const { code, err } = await runToEnd(analyze ?? "", ["verify", "--man=no", file]);
    return code === 0 ? err.replaceAll(/^(?!.*tollgate\.service).*\n/gm, "") : `${code}: ${err}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test.skipIf(analyze === null)(
  "systemd finds nothing wrong with the unit, and would in a wrong one",
  async () => {
    expect(await complaints(unit)).toBe("");
    expect(await complaints(unit.replace("StateDirectoryMode=0700", "StateDirectoryModus=0700"))).toContain(
      "Modus",
    );
  },
);

test("it waits longer than the longest stream, owns the store's directory, and runs as its own user", () => {
  const { limits } = loadConfig({ env: {}, cwd: tmpdir(), flags: {} });
  expect(Number(setting("TimeoutStopSec")) * 1000).toBeGreaterThan(limits.requestTimeoutMs);
  expect(setting("Environment")).toContain(`TOLLGATE_DATA_DIR=/var/lib/${setting("StateDirectory")} `);
  expect([setting("User"), setting("StateDirectoryMode"), setting("NoNewPrivileges")]).toEqual([
    "tollgate",
    "0700",
    "yes",
  ]);
});

test("the page's commands read settings from where the unit does, with the same secrets and store", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/systemd.md"), "utf8");
  const [, command = ""] = /sudo (systemd-run (?:.*\\\n)*.*)/.exec(page) ?? [];
  expect(command).toContain(`--uid=${setting("User")} `);
  expect(command).toContain(`--working-directory=${setting("WorkingDirectory")} `);
  expect(command).toContain(`--property=EnvironmentFile=${setting("EnvironmentFile")} `);
  expect(command).toContain(`--setenv=${setting("Environment").split(" ")[0]} `);
  expect(command).toEndWith(`${setting("ExecStart").split(" ")[0]} doctor`);
});
