// The only place that calls `fetch`. Every answer is JSON or an error body with code and request id.
import { noteAnswer } from "./reachable.ts";

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly param: string | null;
  /** The check of a release that failed. */
  readonly step: string | null;

  constructor(
    about: Pick<ApiError, "status" | "code" | "message" | "requestId" | "param"> & { step?: string | null },
  ) {
    super(about.message);
    this.name = "ApiError";
    this.status = about.status;
    this.code = about.code;
    this.requestId = about.requestId;
    this.param = about.param;
    this.step = about.step ?? null;
  }
}

/** No answer came: the server or the network is down. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super("The gateway does not answer.", { cause });
    this.name = "Unreachable";
  }
}

/** True if the gateway does not know the route or parameter. */
export const isOfOtherVersion = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === "unknown_url" || error.code === "unknown_parameter");

/** True if the page itself failed: because of an answer of another version, or a bug. */
export const isFall = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError;

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export const get = <Answer>(url: string, signal?: AbortSignal): Promise<Answer> =>
  answerOf(url, { method: "GET", ...(signal && { signal }) });

interface Change {
  /** Default: POST. */
  method?: string;
  body?: unknown;
  /** Made when the form opens (`change.ts`), so that a double click or a retry acts once. Reads have none. */
  idempotencyKey?: string;
}

export const send = <Answer>(url: string, change: Change = {}): Promise<Answer> =>
  answerOf(url, {
    method: change.method ?? "POST",
    headers: {
      "content-type": "application/json",
      ...(change.idempotencyKey !== undefined && { "idempotency-key": change.idempotencyKey }),
    },
    body: JSON.stringify(change.body ?? {}),
  });

/** Returns the bare response, for streams. Throws on refusals like every other call. */
export async function open(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...init });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    noteAnswer(false);
    throw new Unreachable(cause);
  }
  noteAnswer(true);
  if (!response.ok) throw await errorOf(response);
  return response;
}

export function withQuery(url: string, query: Query): string {
  const set = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  return set.length === 0
    ? url
    : `${url}?${new URLSearchParams(set.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

async function answerOf<Answer>(url: string, init: RequestInit): Promise<Answer> {
  const response = await open(url, init);
  if (response.status === 204) return undefined as Answer;
  const text = await response.text().catch(lostOnTheWay);
  // Trusted deliberately: the server's contract tests guarantee the shape.
  return JSON.parse(text) as Answer;
}

/** The answer began but did not arrive completely. */
function lostOnTheWay(cause: unknown): never {
  throw cause instanceof DOMException && cause.name === "AbortError" ? cause : new Unreachable(cause);
}

async function errorOf(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("x-request-id");
  const body: unknown = await response.json().catch(() => null);
  const error = field(body, "error") ?? body;
  const text = (name: string): string | null => {
    const value = field(error, name);
    return typeof value === "string" ? value : null;
  };
  return new ApiError({
    status: response.status,
    code: text("code") ?? `http_${response.status}`,
    message: text("message") ?? `The gateway answered ${response.status}.`,
    requestId: text("request_id") ?? requestId,
    param: text("param"),
    step: text("step"),
  });
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
