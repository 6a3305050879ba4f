// `tollgate.example.yaml` shows every setting, and the settings that it comments out are valid as written.
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./config.ts";
import { editorSchema } from "./editor-schema.ts";

const EXAMPLE = readFileSync(join(import.meta.dir, "../../tollgate.example.yaml"), "utf8");

/** Values that must have a certain format. */
const OF_A_SHAPE = {
  DATABASE_URL: "postgres://127.0.0.1/tollgate",
  STRIPE_SECRET_KEY: "sk_test_1",
  STRIPE_WEBHOOK_SECRET: "whsec_1",
};

function serviceAccount(): object {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const private_key = privateKey.export({ type: "pkcs8", format: "pem" });
  return {
    type: "service_account",
    project_id: "acme",
    client_email: "tollgate@acme.example",
    private_key,
    private_key_id: "1",
    token_uri: "https://oauth2.googleapis.com/token",
  };
}

interface Node {
  properties?: Record<string, Node>;
  items?: Node;
  anyOf?: Node[];
  oneOf?: Node[];
}

/** Returns the names of all settings in each group, at any depth. */
function settings(): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  const walk = (node: Node, group: string): void => {
    for (const [name, inner] of Object.entries(node.properties ?? {})) {
      const names = groups.get(group || name) ?? new Set();
      groups.set(group || name, names.add(name));
      walk(inner, group || name);
    }
    for (const one of [...(node.anyOf ?? []), ...(node.oneOf ?? []), node.items ?? {}]) {
      if (one.properties ?? one.items ?? one.anyOf ?? one.oneOf) walk(one, group);
    }
  };
  walk(editorSchema(), "");
  return groups;
}

/** Returns the lines of a group in the example, commented out or not. */
function shownOf(group: string): string {
  const lines = EXAMPLE.split("\n");
  const from = lines.findIndex((line) => new RegExp(`^(# )?${group}:`).test(line));
  if (from < 0) return "";
  const next = lines.findIndex((line, at) => at > from && /^(# )?[a-z_]+:/.test(line));
  return lines.slice(from, next < 0 ? undefined : next).join("\n");
}

test("every setting of the schema stands in its group", () => {
  const missing = [...settings()].flatMap(([group, names]) =>
    [...names]
      .filter((name) => !new RegExp(`\\b${name}:`).test(shownOf(group)))
      .map((name) => `${group}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test("every setting that is only shown in a comment is taken as it stands there", () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-example-"));
  const config = join(folder, "tollgate.yaml");
  try {
    const uncommented = EXAMPLE.replace(/^# (?=[a-z_]+:|  )/gm, "").replace(
      /^(  +)# (?=[a-z_]+:|  )/gm,
      "$1",
    );
    // The operator's files, which do not exist here.
    writeFileSync(
      config,
      uncommented
        .replace(/^trust:\n.*\n/m, "")
        .replace("/etc/tollgate/google.json", join(folder, "account.json")),
    );
    writeFileSync(join(folder, "account.json"), JSON.stringify(serviceAccount()));
    const names = [...EXAMPLE.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
    const env = { ...Object.fromEntries(names.map((name) => [name, "A".repeat(20)])), ...OF_A_SHAPE };
    const all = loadConfig({ env, cwd: folder, flags: { config } });
    expect(all.providers.length).toBeGreaterThan(8);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
