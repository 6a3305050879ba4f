// `${NAME}` and `${file:/PATH}`: what stands for a secret is there, or the start ends.
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { configurations } from "./config.fixtures.ts";

const { cwd, load, complaint, remove } = configurations();
afterAll(remove);

const yaml =
  "providers:\n  - name: acme\n    kind: openai\n    base_url: http://h/v1/\n    api_key: ${ACME}\n";
test("${NAME} is replaced by the environment variable, whatever its characters", () => {
  const env = { ACME: 'x: "y" # ${HOME}' };
  expect(load(yaml, { env }).providers[0]).toMatchObject({
    own: { api_key: env.ACME },
    baseUrl: "http://h/v1",
  });
});
test("an unset or empty variable is refused with path and line, never an empty secret", () => {
  expect(complaint(yaml)).toMatch(/\.yaml:5: providers\[0\]\.api_key: .*ACME is not set$/);
  expect(complaint(yaml, { env: { ACME: "" } })).toMatch(/providers\[0\]\.api_key: .*ACME is empty$/);
});
test("a file's text takes the place of its name, without its last line's end", () => {
  const secret = join(cwd, "acme secret");
  writeFileSync(secret, 'x: "y" # ${HOME}\r\n');
  const named = yaml.replace("${ACME}", `\${file:${secret}}`);
  expect(load(named).providers[0]).toMatchObject({ own: { api_key: 'x: "y" # ${HOME}' } });
});
test.each<[string, string, string | Uint8Array | null]>([
  ["is empty", "empty", "\n"],
  ["cannot be read: ENOENT", "nowhere", null],
  ["cannot be read: ", "odd bytes", new Uint8Array([0x73, 0xff])],
  ["has more than 65536 bytes", "large", "x".repeat(65_537)],
])("a file that %s is refused with path and line, never an empty secret", (why, name, text) => {
  const file = join(cwd, name);
  if (text !== null) writeFileSync(file, text);
  const told = complaint(yaml.replace("${ACME}", `\${file:${file}}`));
  expect(told).toContain(`.yaml:5: providers[0].api_key: the file ${file} ${why}`);
});
test("a device, a folder, and a file named from somewhere are refused", () => {
  for (const [file, why] of [
    ["/dev/zero", "is not a plain file"],
    [cwd, "is not a plain file"],
    ["secret", "must be named by its absolute path"],
  ] as const)
    expect(complaint(yaml.replace("${ACME}", `\${file:${file}}`))).toContain(`the file ${file} ${why}`);
});
test("a set but empty environment setting is refused", () => {
  expect(complaint(null, { env: { DATABASE_URL: "" } })).toStartWith("database_url (from DATABASE_URL): ");
  expect(complaint(null, { env: { TOLLGATE_CONFIG: "" } })).toContain("TOLLGATE_CONFIG");
});
