// `release keygen|sign|verify` work on files, without a gateway; `release publish|list` call one (interfaces.md §4).
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { ReleaseListJson } from "../src/api/shapes/records.ts";
import { everyPage } from "./every-page.ts";
import { spanMs } from "./instant.ts";
import { Problem, WrongUsage } from "./problem.ts";
import { report, say } from "./report.ts";
import { fields, table } from "./table.ts";
import { messageOf } from "../src/domain/error-message.ts";

type Listed = ReleaseListJson["data"][number];

export function addRelease(program: Command): void {
  const release = program.command("release").description("signed releases of routes");
  addKeygen(release);
  addSign(release);
  addVerify(release);
  addPublish(release);
  addList(release);
}

function addKeygen(release: Command): void {
  release
    .command("keygen")
    .description("create a key pair: release.private.jwk (keep it safe) and release.public.jwk (trust it)")
    .requiredOption("--out <dir>", "directory for the two files")
    .action((options: { out: string }, command: Command) =>
      report(command, async () => {
        const { generateReleaseKey } = await import("../src/releases/release-key.ts");
        const { kid, privateJwk, publicJwk } = await generateReleaseKey();
        mkdirSync(options.out, { recursive: true });
        const privateKey = writeNew(join(options.out, "release.private.jwk"), privateJwk, 0o600);
        const publicKey = writeNew(join(options.out, "release.public.jwk"), publicJwk, 0o644);
        const made = { kid, private_key: privateKey, public_key: publicKey };
        return { json: JSON.stringify(made), text: fields(made) };
      }),
    );
}

function writeNew(path: string, value: object, mode: number): string {
  if (existsSync(path)) throw new Problem(`${path} exists already.`, "Give another directory with --out.");
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`, { mode, flag: "wx", flush: true });
  chmodSync(path, mode);
  return path;
}

interface SignOptions {
  key: string;
  expiresIn: string;
  out?: string;
  print?: true;
}

function addSign(release: Command): void {
  release
    .command("sign <manifest>")
    .description(
      "sign a manifest (YAML): writes the JWS beside it, and prints it where stdout is no terminal",
    )
    .requiredOption("--key <file>", "the private key, release.private.jwk")
    .option("--expires-in <span>", "how long the release is valid, like 30d", "30d")
    .option("--out <file>", "where to write the JWS (else the manifest's name with .jws)")
    .option("--print", "print the JWS on a terminal, too")
    .action((manifest: string, options: SignOptions, command: Command) =>
      report(command, async () => {
        const expiresInMs = spanMs(options.expiresIn);
        if (expiresInMs === null)
          throw new WrongUsage(
            `--expires-in ${options.expiresIn} is not a duration.`,
            "Write it like 30d or 12h.",
          );
        const signed = await sign(manifest, { key: options.key, expiresInMs });
        const file = options.out ?? manifest.replace(/(?:\.ya?ml)?$/, ".jws");
        writeFileSync(file, `${signed.jws}\n`);
        say(`Written to ${file}; publish it with: ./tollgate release publish ${file}`);
        const { jws, ...about } = signed;
        const whole = options.print === true || !process.stdout.isTTY;
        return { json: JSON.stringify({ ...signed, file }), text: whole ? jws : fields({ ...about, file }) };
      }),
    );
}

async function sign(path: string, how: { key: string; expiresInMs: number }): Promise<Signed> {
  const { parseManifestYaml } = await import("../src/releases/manifest.ts");
  const { readReleaseKey, readTrustedKeys } = await import("../src/releases/release-key.ts");
  const { signRelease, verifyRelease } = await import("../src/releases/signature.ts");
  const manifest = await refusable(path, () => parseManifestYaml(read(path)));
  const key = await refusable(how.key, () => readReleaseKey(readJson(how.key)));
  const publicHalf = await refusable(how.key, () => readTrustedKeys([readJson(how.key)]));
  const jws = await refusable(path, async () => {
    const made = await signRelease(manifest, key, { expiresInMs: how.expiresInMs });
    await verifyRelease(made, publicHalf); // never sign what no gateway would accept
    return made;
  });
  return { route: manifest.route, version: manifest.version, kid: key.kid, jws };
}

interface Signed {
  route: string;
  version: number;
  kid: string;
  jws: string;
}

function addVerify(release: Command): void {
  release
    .command("verify <jws>")
    .description("verify a signed release; prints its claims")
    .requiredOption("--trust <file>", "the public key, release.public.jwk")
    .action((path: string, options: { trust: string }, command: Command) =>
      report(command, async () => {
        const { readTrustedKeys } = await import("../src/releases/release-key.ts");
        const { verifyRelease } = await import("../src/releases/signature.ts");
        const trusted = await refusable(options.trust, () => readTrustedKeys([readJson(options.trust)]));
        const { claims, kid } = await refusable(path, () => verifyRelease(read(path).trim(), trusted));
        const printed = {
          iss: "tollgate",
          sub: claims.manifest.route,
          iat: claims.issuedAtMs / 1000,
          exp: claims.expiresAtMs / 1000,
          ver: claims.manifest.version,
          kid,
          release: claims.manifest,
        };
        return { json: JSON.stringify(printed), text: JSON.stringify(printed, null, 2) };
      }),
    );
}

function addPublish(release: Command): void {
  release
    .command("publish <jws>")
    .description("publish a signed release to the gateway")
    .action((path: string, _: object, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { text, value } = await gateway.call("POST /admin/v1/releases", { jws: read(path).trim() });
        return {
          json: text,
          text: () => `${value.route} version ${value.version} is published; the route is ${value.state}.`,
        };
      }),
    );
}

function addList(release: Command): void {
  release
    .command("list")
    .description("list the newest release of each route")
    .action((_: object, command: Command) =>
      report(command, async (context) => {
        const { text, value } = await everyPage((await context.gateway()).call, "GET /admin/v1/releases", {});
        const columns = {
          ROUTE: (row: Listed) => row.route,
          VERSION: (row: Listed) => row.version,
          STATE: (row: Listed) => row.state,
          TIER: (row: Listed) => row.tier,
          EXPIRES: (row: Listed) => row.expires_at,
          "SIGNED BY": (row: Listed) => row.signed_by,
        };
        return { json: text, text: () => table(value.data, columns) };
      }),
    );
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Problem(
      `${path} cannot be read: ${messageOf(error)}`,
      "Check the file's name and its permissions.",
    );
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(read(path)) as unknown;
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(`${path} is not a JWK (JSON).`, "Make one with ./tollgate release keygen --out DIR.");
  }
}

/** Runs work that may refuse a release; the problem names the file. */
async function refusable<Value>(path: string, work: () => Value | Promise<Value>): Promise<Value> {
  const { ReleaseError } = await import("../src/releases/release-error.ts");
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    throw new Problem(`${path}: ${error.message}`, "Correct it and sign it again.");
  }
}
