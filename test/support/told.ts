// Checks that an answer of the API is as its endpoint declares: its status, every member, and no others. All answers
// that tests see are checked, so that `docs/openapi.json` and clients' types match what the gateway sends.
import type { z } from "zod";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { methodOf, pathOf } from "../../src/api/target.ts";
import { errorSchema } from "../../src/api/shapes/records.ts";
import { TARGETS } from "./endpoints.ts";

const DECLARED = TARGETS.map(({ target, endpoint }) => {
  const path = pathOf(target)
    .replaceAll(".", "\\.")
    .replaceAll(/\{\w+\}/g, "[^/]+");
  return { endpoint, asks: new RegExp(`^${methodOf(target)} ${path}$`) };
});

interface Answered {
  status: number;
  /** Null if the body is not JSON. */
  json: unknown;
}

/** Throws if an answer below `/app/v1` or `/admin/v1` is not as declared; other answers pass. */
export function assertTold(method: string, url: string, { status, json }: Answered): void {
  const asked = `${method} ${url.split("?", 1)[0]}`;
  const { endpoint } = DECLARED.find(({ asks }) => asks.test(asked)) ?? {};
  if (endpoint === undefined || json === null) return;
  const wrong = (how: string): Error =>
    new Error(`${asked} ${status} is not as declared: ${how} in ${JSON.stringify(json)}`);
  const stranger = status < 400 ? null : strangeParam(endpoint, json);
  if (stranger !== null) throw wrong(`nobody sends a field ${JSON.stringify(stranger)} there,`);
  if (status < 400 && status !== endpoint.status) throw wrong(`its status is ${endpoint.status}`);
  const schema = status < 400 ? endpoint.output : errorSchema;
  if (typeof schema === "string") return;
  const { success, data, error } = (schema as z.ZodType).safeParse(json);
  const issues = error?.issues.filter((issue) => !isLargeSum(issue)) ?? [];
  if (issues.length > 0) throw wrong(JSON.stringify(issues));
  const more = success ? besides(json, data) : [];
  if (more.length > 0) throw wrong(`there is more, ${more.join(", ")},`);
}

/** A field that a refusal names in `param` although no client can have sent it; null if there is none. */
function strangeParam({ input, output }: Endpoint, json: unknown): string | null {
  const { code, param } = (json as { error?: { code?: string; param?: string | null } }).error ?? {};
  // Unknown fields were really sent; a release, or a model call, has fields of its own.
  if (typeof param !== "string" || code === "unknown_parameter" || code === "release_refused") return null;
  const [field = ""] = param.split(".");
  if (output === "completion" || HEADER.test(param) || Object.hasOwn(input.shape, field)) return null;
  return param;
}

/** `Idempotency-Key`, `Content-Type`: headers keep their capitals, fields are lowercase. */
const HEADER = /^[A-Z][A-Za-z-]+$/;

/** Sums are printed to their last digit; only JavaScript's numbers are limited to 2^53. */
const isLargeSum = (issue: z.core.$ZodIssue): boolean =>
  issue.code === "too_big" && issue.maximum === Number.MAX_SAFE_INTEGER;

/** Paths of the members that a schema leaves out. */
function besides(whole: unknown, declared: unknown, at = ""): string[] {
  if (typeof whole !== "object" || whole === null) return [];
  const left = declared as Record<string, unknown>;
  return Object.entries(whole).flatMap(([name, value]) =>
    Object.hasOwn(left, name) ? besides(value, left[name], `${at}.${name}`) : [`${at}.${name}`],
  );
}
