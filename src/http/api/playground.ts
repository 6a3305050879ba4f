// The playground's two calls are those of `/v1`: the chosen key pays, with its scope, limit and rate, and the answer is that of the
// chosen surface, streams included.
import type { Playground } from "../../api/rooms.ts";
import { FORMATS } from "../../gateway/formats/formats.ts";
import type { Format } from "../../gateway/formats/format.ts";
import { preview, type PreviewPorts } from "../../gateway/preview.ts";
import type { SurfaceHandler } from "../surface.ts";

export interface PlaygroundPorts {
  /** The handler of a surface. */
  answerOn(this: void, format: Format): SurfaceHandler;
  preview: PreviewPorts;
}

export const playgroundOn = (on: PlaygroundPorts): Playground => ({
  complete: ({ request, requestId, receivedAtMs, setIdleTimeout, sending }, { surface, ...paying }) =>
    on.answerOn(formatOf(surface))({ request, requestId, receivedAtMs, setIdleTimeout, sending }, paying),
  quote: async ({ request, requestId, receivedAtMs }, { surface, authorization, body }) =>
    (await preview(on.preview, {
      format: formatOf(surface),
      requestId,
      receivedAtMs,
      trace: null,
      authorization,
      idempotencyKey: null,
      header: (name) => request.headers.get(name),
      lastEventId: null,
      signal: request.signal,
      checkBody: () => {},
      readBody: async () => body,
    })) as Record<string, unknown>,
});

function formatOf(surface: string): Format {
  const format = FORMATS.find((one) => one.surface === surface);
  if (format === undefined) throw new Error(`no surface ${surface}`);
  return format;
}
