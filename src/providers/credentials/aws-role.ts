// The AWS role of a container or a machine, in place of a key: temporary credentials, requested where AWS issues
// them, kept, and renewed before they expire. The configuration names one of the three places; nothing is guessed.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { isJsonObject } from "../../domain/read-value.ts";
import { wantIn } from "../../lib/shortage.ts";
import { Failure, type FailureCause } from "../failure.ts";
import { readJson } from "../http/json.ts";
import { secretText } from "../setting.ts";
import { askLender, type Lender, lender, refusedBy, RENEWAL_MS, unavailable } from "./ask.ts";
import type { AwsKey } from "./aws-sigv4.ts";
import { isTokenUri } from "./oauth.ts";
import type { Lent } from "./renewed.ts";

/** Where AWS answers without TLS, on the machine's own link: for containers, and for the machine itself. */
const OF_CONTAINERS = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];
const OF_MACHINES = ["169.254.169.254", "[fd00:ec2::254]"];

const tokenFile = z.string().startsWith("/", "must be the absolute path of a file");
const address = (trusted: readonly string[], example: string) =>
  z.string().refine((value) => isTokenUri(value, trusted), `must be an https:// address, or ${example}`);

const container = z
  .strictObject({
    from: z.literal("container").describe("For ECS, and for EKS pods with Pod Identity."),
    uri: address(OF_CONTAINERS, "AWS's own http:// address, like http://169.254.170.2/…").describe(
      "${AWS_CONTAINER_CREDENTIALS_FULL_URI}, or http://169.254.170.2${AWS_CONTAINER_CREDENTIALS_RELATIVE_URI}.",
    ),
    token: secretText,
    token_file: tokenFile
      .optional()
      .describe("${AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE}: read at each renewal."),
  })
  .refine(({ token, token_file }) => token === undefined || token_file === undefined, {
    path: ["token"],
    error: "cannot be combined with token_file: leave out one of them",
  });

const webIdentity = z.strictObject({
  from: z
    .literal("web_identity")
    .describe("A signed token of Kubernetes or another issuer, exchanged at AWS STS."),
  role_arn: z
    .string()
    .regex(
      /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/,
      "must be a role's ARN, like arn:aws:iam::…:role/…",
    )
    .describe("${AWS_ROLE_ARN}."),
  token_file: tokenFile.describe("${AWS_WEB_IDENTITY_TOKEN_FILE}: read at each renewal."),
  session_name: z
    .string()
    .regex(/^[\w+=,.@-]{2,64}$/, "must be 2 to 64 of letters, digits and +=,.@-")
    .default("tollgate")
    .describe("The session name shown in CloudTrail."),
  url: address([], "http:// of this machine itself")
    .optional()
    .describe("The address of STS; default: the region's own."),
});

const instance = z.strictObject({
  from: z.literal("instance").describe("For an EC2 instance with an instance profile, through IMDSv2."),
  url: address(OF_MACHINES, "AWS' own in the clear, http://169.254.169.254").default(
    "http://169.254.169.254",
  ),
});

export const awsRole = z
  .discriminatedUnion("from", [container, webIdentity, instance], {
    error: ({ code }) =>
      code === "invalid_union" ? "must be one of container, web_identity, instance" : undefined,
  })
  .describe("Instead of a key: the AWS role of the gateway's container or machine.");

export type AwsRole = z.output<typeof awsRole>;

/** Requests temporary credentials of the role. Throws `Failure`. */
export function assumeRole(role: AwsRole, region: string, withinMs = RENEWAL_MS): Promise<Lent<AwsKey>> {
  switch (role.from) {
    case "container":
      return fromContainer(role, lender("the container's credentials endpoint", withinMs));
    case "web_identity":
      return fromSts(role, region, lender("AWS STS", withinMs));
    case "instance":
      return fromMachine(role, lender("the machine's metadata service", withinMs));
  }
}

async function fromContainer(
  { uri, token, token_file }: z.output<typeof container>,
  from: Lender,
): Promise<Lent<AwsKey>> {
  const shown = token_file === undefined ? token : tokenIn(token_file);
  const { status, text } = await askLender(from, uri, {
    method: "GET",
    headers: { accept: "application/json", ...(shown !== undefined && { authorization: shown }) },
  });
  if (status === 200) return keyIn(readJson(text), from);
  const { code, message: said } = objectIn(text);
  throw refusedBy(from, { status, code, said }, shown === undefined ? [] : [shown]);
}

const TAGS = ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration", "Code", "Message"] as const;

async function fromSts(
  { role_arn, token_file, session_name, url }: z.output<typeof webIdentity>,
  region: string,
  from: Lender,
): Promise<Lent<AwsKey>> {
  const token = tokenIn(token_file);
  const { status, text } = await askLender(from, url ?? `https://sts.${region}.amazonaws.com/`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "text/xml" },
    body: new URLSearchParams({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: role_arn,
      RoleSessionName: session_name,
      WebIdentityToken: token,
    }).toString(),
  });
  // Responses are XML, of which only these plain leaves are read.
  const told = Object.fromEntries(
    TAGS.map((tag) => [tag, new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1]]),
  );
  if (status === 200) return keyIn({ ...told, Token: told["SessionToken"] }, from);
  throw refusedBy(from, { status, code: told["Code"], said: told["Message"] }, [token, role_arn]);
}

/** Requests them from IMDSv2, which requires a session token that only this machine can get. */
async function fromMachine({ url }: z.output<typeof instance>, from: Lender): Promise<Lent<AwsKey>> {
  const at = url.replace(/\/+$/, "");
  const opened = await askLender(from, `${at}/latest/api/token`, {
    method: "PUT",
    headers: { "x-aws-ec2-metadata-token-ttl-seconds": "60" },
  });
  const session = opened.text.trim();
  if (opened.status !== 200) throw refusedBy(from, { status: opened.status, code: null, said: null }, []);
  if (!PRINTABLE.test(session)) throw unavailable(from, "opened no session");
  const read = async (path: string): Promise<string> => {
    const { status, text } = await askLender(
      from,
      `${at}/latest/meta-data/iam/security-credentials/${path}`,
      {
        method: "GET",
        headers: { "x-aws-ec2-metadata-token": session },
      },
    );
    if (status === 200) return text;
    const said = status === 404 ? "the machine has no role: give it an instance profile" : null;
    throw refusedBy(from, { status, code: null, said }, [session]);
  };
  const name = (await read("")).split("\n")[0]?.trim() ?? "";
  if (!/^[\w+=,.@-]{1,64}$/.test(name)) throw unavailable(from, "names no role");
  const told = readJson(await read(name));
  const { Code: code = "Success", Message: said } = isJsonObject(told) ? told : {};
  if (code !== "Success") throw refusedBy(from, { status: 403, code, said }, [session]);
  return keyIn(told, from);
}

const PRINTABLE = /^[\x21-\x7e]{1,8192}$/;

function keyIn(told: unknown, from: Lender): Lent<AwsKey> {
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = isJsonObject(told) ? told : {};
  // They become headers and a signature, so they must be printable and of bounded length.
  const [accessKeyId, secretAccessKey, sessionToken] = [AccessKeyId, SecretAccessKey, Token];
  if (typeof accessKeyId !== "string" || !/^[A-Z0-9]{16,128}$/.test(accessKeyId)) throw incomplete(from);
  if (typeof secretAccessKey !== "string" || !PRINTABLE.test(secretAccessKey)) throw incomplete(from);
  if (typeof sessionToken !== "string" || !PRINTABLE.test(sessionToken)) throw incomplete(from);
  const lifeMs = Date.parse(String(Expiration)) - Date.now();
  if (Number.isNaN(lifeMs)) throw incomplete(from);
  if (lifeMs <= 0) throw unavailable(from, "answered with expired credentials");
  return { value: { accessKeyId, secretAccessKey, sessionToken }, lifeMs };
}

const incomplete = (from: Lender): Failure => unavailable(from, "answered without credentials");

const objectIn = (text: string): Record<string, unknown> => {
  const value = readJson(text);
  return isJsonObject(value) ? value : {};
};

/** Reads the token file, which is rewritten while we run. Throws `Failure`, which names the file only to operators. */
function tokenIn(path: string): string {
  const failed = (what: string, reason: FailureCause = "account"): Failure =>
    new Failure(reason, "no", `the token file ${path} ${what}`, { words: `the token file ${what}` });
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw failed(`cannot be read (${code})`, wantIn(code) === null ? "account" : "shortage");
  }
  if (text.length > 0 && text.length <= 32_768 && /^[\x20-\x7e]+$/.test(text)) return text;
  throw failed("holds no token");
}
