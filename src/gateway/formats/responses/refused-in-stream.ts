// Codex recognizes a full context only as a response that failed inside its stream, and then shortens the conversation. An HTTP
// error with the same code ends the turn, and the next one, for ever (surfaces.md §2).
import { isJsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { HeaderOf } from "../format.ts";
import { EventLine } from "./event-line.ts";
import { ResponseHead } from "./response-object.ts";

/** All of its programs identify themselves like this. */
const isCodex = (header: HeaderOf): boolean => header("originator")?.startsWith("codex") === true;

/** `error`: the body of a refusal. Null if its client recognizes it as it is. */
export function refusedInStream(error: string, header: HeaderOf): string | null {
  if (!isCodex(header)) return null;
  const body = JSON.parse(error) as { error: Record<string, unknown>; gateway?: unknown };
  const { code, message, param, type, request_id: id } = body.error;
  if (code !== "context_length_exceeded" || typeof id !== "string") return null;
  const model = isJsonObject(body.gateway) ? body.gateway["public_model"] : "";
  const head = new ResponseHead(
    { requestId: id, created: 0, model: typeof model === "string" ? model : "" },
    {},
  );
  const figures = { output: "", usage: "null", gateway: wireJson(body.gateway ?? null) };
  const begun = `"response":${head.print({ status: "in_progress", ...figures })}`;
  const failed = head.print({
    status: "failed",
    error: wireJson({ code, message, param, type }),
    ...figures,
  });
  const line = new EventLine(false);
  return (
    line.print("response.created", begun) +
    line.print("response.in_progress", begun) +
    line.print("response.failed", `"response":${failed}`)
  );
}
