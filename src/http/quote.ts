// POST on a surface's path and /quote: same body and validation as the call itself; holds nothing (wire.md §5).
import type { Format } from "../gateway/formats/format.ts";
import { preview, type PreviewPorts } from "../gateway/preview.ts";
import type { Handler } from "./context.ts";
import { type QuestionPorts, questionOf } from "./question.ts";
import { replyJson } from "./reply.ts";

export function quote(format: Format, ports: QuestionPorts & { complete: PreviewPorts }): Handler {
  return async (context) =>
    replyJson(context, await preview(ports.complete, questionOf(format, context, ports)));
}
