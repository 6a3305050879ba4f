// Gemini's two envelopes, as an operator would configure them and as their calls are sent.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, loadConfig, type ProviderConfig } from "../../src/config/config.ts";
import { shownSettings } from "../../src/config/shown-settings.ts";
import {
  keyText,
  PEM,
  startTokenServer,
  tokenReply,
} from "../../src/providers/credentials/credentials.fixtures.ts";
import { GEMINI_CEILING, candidate, geminiOutgoing } from "../../src/providers/google/google.fixtures.ts";
import {
  collect,
  failureOf,
  type Got,
  httpReply,
  providerCall,
  startUpstream,
  STREAM_HEAD,
  streamCall,
} from "../../src/providers/openai/openai.fixtures.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { printedText } from "../../src/providers/printed-text.fixtures.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-google-"));
const KEY = join(directory, "key.json");
beforeAll(() => writeFileSync(KEY, keyText()));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function load(own: string): ProviderConfig {
  const config = join(directory, "tollgate.yaml");
  writeFileSync(config, `providers:\n  - { name: gem, kind: google, ${own} }\n`);
  const [provider] = loadConfig({ env: {}, cwd: directory, flags: { config } }).providers;
  if (provider === undefined) throw new Error("no provider");
  return provider;
}

function complaint(own: string): string {
  try {
    load(own);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replace(/^.*?:2: providers\[0\]\./, "");
    throw error;
  }
  throw new Error("was accepted");
}

const VERTEX = `envelope: vertex, service_account: "${KEY}"`;

describe("settings", () => {
  test("an envelope has the vendor's address; another may replace it", () => {
    expect(load("api_key: k").baseUrl).toBe("https://generativelanguage.googleapis.com/v1beta");
    expect(load(VERTEX).baseUrl).toBe("https://aiplatform.googleapis.com/v1");
    expect(load(`${VERTEX}, location: europe-west4`).baseUrl).toBe(
      "https://europe-west4-aiplatform.googleapis.com/v1",
    );
    expect(load('base_url: "http://127.0.0.1:9/v1beta/"').baseUrl).toBe("http://127.0.0.1:9/v1beta");
  });

  test.each([
    ["api_key: ''", "api_key: must not be empty"],
    ["envelope: direct", "api_key: is required: a Gemini API key, or envelope: vertex"],
    ["api_key: sk-ant-x", "api_key: looks like a key of Anthropic"],
    ["api_key: k, project: p", "project: belongs to envelope: vertex"],
    ["api_key: k, location: global", "location: belongs to envelope: vertex"],
    [`api_key: k, service_account: "${KEY}"`, "service_account: belongs to envelope: vertex"],
    ["envelope: cloud", "envelope: must be one of direct, vertex"],
    ["envelope: vertex", "service_account: is required with envelope: vertex: the path of its JSON key file"],
    [`${VERTEX}, api_key: k`, "api_key: belongs to envelope: direct"],
    [`${VERTEX}, project: "a/../b"`, "project: must be a Google Cloud project id"],
    [`${VERTEX}, location: "eu/x"`, "location: must be a Vertex AI location"],
    ["envelope: vertex, service_account: key.json", "service_account: must be the absolute path"],
    [
      "envelope: vertex, service_account: /nowhere/key.json",
      "service_account: /nowhere/key.json cannot be read.",
    ],
    ["api_key: k, region: us", "region: there is no such setting"],
  ])("%s", (own, said) => {
    expect(complaint(own)).toStartWith(said);
  });

  test("a key without a project needs one configured", () => {
    const path = join(directory, "no-project.json");
    writeFileSync(path, keyText({ project_id: undefined }));
    const own = `envelope: vertex, service_account: "${path}"`;
    expect(complaint(own)).toStartWith("project: is required");
    expect(load(`${own}, project: my-project-7`).own).toMatchObject({ project: "my-project-7" });
  });

  test("nothing secret is shown", () => {
    const config = join(directory, "tollgate.yaml");
    load(`${VERTEX}, location: europe-west4`);
    const shown = JSON.stringify(shownSettings(loadConfig({ env: {}, cwd: directory, flags: { config } })));
    expect(shown).toContain('"kind":"google","envelope":"vertex","location":"europe-west4"');
    expect(shown).not.toContain(PEM.slice(60, 90));
  });
});

async function made(own: string): Promise<Provider> {
  const { name, kind, baseUrl, own: settings, timeouts } = load(own);
  return await kind.create({ name, baseUrl: baseUrl ?? "", probePath: "/models", timeouts }, settings);
}

const answer = JSON.stringify(candidate([{ text: "Hello." }], "STOP"));
const body = geminiOutgoing();

const headOf = ({ head }: Got): string => head.toLowerCase();

describe("on the wire", () => {
  test("direct: the model in the path, the key in its header and nowhere else, the ceiling in the body", async () => {
    await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(200, answer)));
    const provider = await made(`api_key: AIza-secret, base_url: "${upstream.url}"`);
    const call = { ...providerCall(), upstreamModel: "gemini-3.8-flash", body };
    expect((await provider.complete(call)).choices[0]).toMatchObject({ content: "Hello." });
    const [got] = upstream.got;
    if (got === undefined) throw new Error("no call");
    expect(got.head).toStartWith("POST /v1/models/gemini-3.8-flash:generateContent HTTP/1.1");
    expect(headOf(got)).toContain("x-goog-api-key: aiza-secret");
    expect(headOf(got)).not.toContain("authorization:");
    expect(got.body).toBe(printedText(body, GEMINI_CEILING));
  });

  test("vertex: the project in the path, a bearer token that is fetched once", async () => {
    await using tokens = startTokenServer(() => tokenReply("ya29.secret"));
    const path = join(directory, "loopback.json");
    writeFileSync(path, keyText({ token_uri: tokens.url }));
    await using upstream = await startUpstream(({ socket }) => {
      socket.write(`${STREAM_HEAD}data: ${answer}\r\n\r\n`);
      socket.end();
    });
    const provider = await made(
      `envelope: vertex, service_account: "${path}", location: europe-west4, base_url: "${upstream.url}"`,
    );
    for (let n = 0; n < 2; n += 1) {
      const { parts, failure } = await collect(provider, {
        ...streamCall(),
        upstreamModel: "gemini-2.5-pro",
        body,
      });
      expect([parts.length, failure]).toEqual([2, null]);
    }
    expect(tokens.asked).toHaveLength(1);
    const [got] = upstream.got;
    if (got === undefined) throw new Error("no call");
    expect(got.head).toStartWith(
      "POST /v1/projects/project-7/locations/europe-west4/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse HTTP/1.1",
    );
    expect(headOf(got)).toContain("authorization: bearer ya29.secret");
    expect(headOf(got)).not.toContain("x-goog-api-key");
  });

  test("a token that is refused, or unavailable, proves that nothing was sent", async () => {
    await using tokens = startTokenServer(() => Response.json({ error: "invalid_grant" }, { status: 400 }));
    const path = join(directory, "refused.json");
    writeFileSync(path, keyText({ token_uri: tokens.url }));
    await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(200, answer)));
    const provider = await made(`envelope: vertex, service_account: "${path}", base_url: "${upstream.url}"`);
    const failure = await failureOf(provider.complete({ ...providerCall(), body }));
    expect([failure.reason, failure.executed]).toEqual(["account", "no"]);
    expect(upstream.got).toHaveLength(0);
  });

  test("the provider's message about a refused call contains no key", async () => {
    const refused = {
      error: { code: 403, status: "PERMISSION_DENIED", message: "key AIza-secret is blocked" },
    };
    await using upstream = await startUpstream(({ socket }) =>
      socket.write(httpReply(403, JSON.stringify(refused))),
    );
    const failure = await failureOf(
      (await made(`api_key: AIza-secret, base_url: "${upstream.url}"`)).complete({ ...providerCall(), body }),
    );
    expect(failure.upstream.words).toBe("PERMISSION_DENIED: key [key] is blocked");
  });
});
