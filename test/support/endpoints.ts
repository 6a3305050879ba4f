// The declared API, for tests that iterate over it: each endpoint under each of its prefixes.
import { z } from "zod";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import type { AppRoute } from "../../src/api/client.ts";
import { type Endpoint, reads, type Who } from "../../src/api/endpoint.ts";
import { pathFields, pathOf, type Target } from "../../src/api/target.ts";

interface Told {
  may: Who;
  query: z.ZodObject;
  /** Null if it takes no body. */
  body: z.ZodObject | null;
  output: z.ZodType;
  answer: string;
  audit: string | null;
}

export const TARGETS: readonly { target: Target; endpoint: Endpoint }[] = ENDPOINTS.flatMap(({ endpoint }) =>
  endpoint.targets.map((target) => ({ target, endpoint })),
);

/** The fields that are not in the path. */
function besides(target: Target, { input }: Endpoint): z.ZodObject {
  const carried = pathFields(target);
  return z.strictObject(
    Object.fromEntries(Object.entries(input.shape).filter(([name]) => !carried.includes(name))),
  );
}

function told(target: Target, endpoint: Endpoint): Told {
  const { who, output, audit } = endpoint;
  const fields = besides(target, endpoint);
  const isStream = typeof output === "string";
  return {
    may: who,
    query: reads(target) ? fields : z.strictObject({}),
    body: reads(target) ? null : fields,
    output: isStream ? z.string() : output,
    answer: isStream ? output : "json",
    audit,
  };
}

/** Every target below `/app/v1`. */
export const appRoutes = (): [AppRoute, Told][] =>
  TARGETS.filter(({ target }) => pathOf(target).startsWith("/app/v1/")).map(
    ({ target, endpoint }): [AppRoute, Told] => [
      target.replace(" /app/v1", " ") as AppRoute,
      told(target, endpoint),
    ],
  );

/** Every target below `/admin/v1`. */
export const adminTargets = (): {
  method: string;
  path: string;
  query: z.ZodObject;
  body: z.ZodObject | null;
}[] =>
  TARGETS.filter(({ target }) => pathOf(target).startsWith("/admin/v1/")).map(({ target, endpoint }) => ({
    method: target.split(" ")[0] ?? "",
    path: pathOf(target),
    ...told(target, endpoint),
  }));
