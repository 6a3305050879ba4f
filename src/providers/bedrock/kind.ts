// `kind: bedrock`: the models of Amazon Bedrock through Converse, with a key or with signed calls (providers.md §7).
import { z } from "zod";
import { awsCredentials } from "../credentials/aws.ts";
import { httpProvider } from "../http/http-provider.ts";
import type { ProviderKind } from "../kind.ts";
import { FAMILIES, type Family } from "./families.ts";

const aws = awsCredentials("bedrock");
const HOME = /^bedrock-runtime[\w.-]*\.amazonaws\.com$/;

const guardrail = z.strictObject({
  id: z.string().regex(/^[\w:/.-]{1,2048}$/, "must be a guardrail id or ARN"),
  version: z.string().regex(/^([1-9]\d{0,7}|DRAFT)$/, "must be a number in quotes, or DRAFT"),
});

interface Own {
  region: string;
  family?: Family;
  guardrail?: z.output<typeof guardrail>;
}

export const bedrock: ProviderKind = {
  name: "bedrock",
  description: "Models of Amazon Bedrock, through its Converse API.",
  settings: {
    ...aws.settings,
    family: z
      .enum(FAMILIES, `must be one of ${FAMILIES.join(", ")}`)
      .optional()
      .describe(
        "The model family that decides how to request thinking, if the names do not show it, as with your own inference profile.",
      ),
    guardrail: guardrail.optional().describe("Applied to every call."),
  },
  addressOf: (own) => `https://bedrock-runtime.${(own as Own).region}.amazonaws.com`,
  probePath: null,
  credential: { setting: aws.setting, needed: true, given: (own) => aws.given(own) },
  wrong: (own, address) =>
    aws.wrong(own, {
      title: "Amazon Bedrock",
      atHome: address === null || HOME.test(new URL(address).hostname),
    }),
  shown: (own) => {
    const { region, family = null, guardrail: rail = null } = own as Own;
    return { region, family, guardrail: rail?.id ?? null };
  },
  async create(upstream, own) {
    const { converseCodec } = await import("./codec.ts");
    const { family = null, guardrail: rail = null } = own as Own;
    return httpProvider(upstream, converseCodec({ authorize: aws.authorize(own), family, guardrail: rail }));
  },
};
