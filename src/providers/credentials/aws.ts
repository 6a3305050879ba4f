// Amazon Bedrock: an API key as bearer token; an access key that signs each request; or the role of our container or
// machine, whose temporary keys sign. Each is for one region.
import { z } from "zod";
import { keyHeader } from "./api-key.ts";
import { type AwsRole, assumeRole, awsRole } from "./aws-role.ts";
import { type AwsScope, awsSigner } from "./aws-sigv4.ts";
import type { Authorize } from "../codec.ts";
import { credentials } from "./credentials.ts";
import { Renewed } from "./renewed.ts";
import { secretText } from "../setting.ts";

/** `bedrock` is the service name in signatures for bedrock-runtime; other AWS hosts have their own. */
export const awsCredentials = (service: string) =>
  credentials({
    settings: {
      region: z
        .string("is required: the AWS region to call, e.g. us-east-1")
        .regex(/^[a-z]{2}(-[a-z]+){1,3}-\d{1,2}$/, "must be an AWS region, e.g. us-east-1")
        .describe("The AWS region to call, e.g. us-east-1."),
      api_key: secretText.describe("A Bedrock API key. Write it as ${NAME}."),
      access_key_id: z
        .string()
        .regex(/^[A-Z0-9]{16,128}$/, "must be an access key id, e.g. AKIA…: capital letters and digits")
        .optional()
        .describe("Instead of api_key: requests are signed with this key."),
      secret_access_key: secretText,
      session_token: secretText.describe("For temporary credentials. Write it as ${NAME}."),
      role: awsRole.optional(),
    },
    setting: "api_key, access_key_id or role",
    needed: true,
    given: ({ api_key, access_key_id, role }) => (api_key ?? access_key_id ?? role) !== undefined,
    wrong({ api_key, access_key_id, secret_access_key, session_token, role }, { atHome }) {
      const signs = access_key_id !== undefined;
      if (role !== undefined && (api_key !== undefined || signs))
        return {
          setting: "role",
          message: `cannot be combined with ${signs ? "access_key_id" : "api_key"}: leave out one of them`,
        };
      if (api_key !== undefined && signs)
        return {
          setting: "access_key_id",
          message: "cannot be combined with api_key: leave out one of them",
        };
      if (signs !== (secret_access_key !== undefined))
        return {
          setting: signs ? "secret_access_key" : "access_key_id",
          message: "is required: access_key_id and secret_access_key belong together",
        };
      if (session_token !== undefined && !signs)
        return { setting: "session_token", message: "has no effect without access_key_id" };
      if (api_key !== undefined && /^A[KS]IA/.test(api_key))
        return { setting: "api_key", message: "is an access key id: set it as access_key_id" };
      if (atHome && access_key_id?.startsWith("ASIA") === true && session_token === undefined)
        return { setting: "session_token", message: "is required: ASIA… keys are temporary credentials" };
      if (!atHome || signs || api_key !== undefined || role !== undefined) return null;
      return { setting: "api_key", message: "is required, or access_key_id and secret_access_key, or role" };
    },
    authorize({ region, api_key, access_key_id, secret_access_key, session_token, role }) {
      if (role !== undefined) return roleSigner(role, { region, service });
      if (access_key_id !== undefined && secret_access_key !== undefined) {
        const sign = awsSigner(
          {
            accessKeyId: access_key_id,
            secretAccessKey: secret_access_key,
            sessionToken: session_token ?? null,
          },
          { region, service },
        );
        return (outgoing) => sign(outgoing);
      }
      const proof = api_key === undefined ? {} : keyHeader("authorization", api_key);
      return () => proof;
    },
  });

/** Signs with the role's current keys. */
function roleSigner(role: AwsRole, scope: AwsScope): Authorize {
  const signer = new Renewed(async () => {
    const { value, lifeMs } = await assumeRole(role, scope.region);
    return { value: awsSigner(value, scope), lifeMs };
  });
  return Object.assign(
    (outgoing: Parameters<Authorize>[0]) => {
      const sign = signer.current();
      return sign instanceof Promise ? sign.then((ready) => ready(outgoing)) : sign(outgoing);
    },
    { refused: () => signer.refused() },
  );
}
