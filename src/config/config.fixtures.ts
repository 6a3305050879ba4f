// Configurations of tests, each in a file of its own.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, ConfigError, type ConfigInput, loadConfig } from "./config.ts";

/** `yaml`: the file's text; null: there is no file. `complaint` is what `load` throws. */
export function configurations() {
  const cwd = mkdtempSync(join(tmpdir(), "tollgate-config-"));
  let files = 0;
  function load(yaml: string | null, input: Partial<ConfigInput> = {}): Config {
    const file = join(cwd, `settings-${++files}.yaml`);
    if (yaml !== null) writeFileSync(file, yaml);
    const flags = { ...(yaml !== null && { config: file }), ...input.flags };
    return loadConfig({ env: {}, cwd, ...input, flags });
  }
  function complaint(yaml: string | null, input: Partial<ConfigInput> = {}): string {
    try {
      load(yaml, input);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
    throw new Error("the configuration was accepted");
  }
  return { cwd, load, complaint, remove: () => rmSync(cwd, { recursive: true, force: true }) };
}
