// POST /device/code and /device/token: the two calls of a terminal that logs in (RFC 8628). Anybody may make them; without an
// operator's approval they give nothing. Answers that the RFC defines have its shape, all others our envelope.
import {
  type DeviceCodeJson,
  deviceCodeInput,
  DeviceRefusal,
  deviceTokenInput,
  type DeviceTokenJson,
} from "../api/shapes/devices.ts";
import type { Devices } from "../operator/devices.ts";
import { parseJson } from "../domain/parse-json.ts";
import type { ApiHandler } from "./api/handler.ts";
import { type BodyTerms, readJsonBody, strangersRoom } from "./body.ts";
import { readFields } from "./read-fields.ts";
import { unkeptHeaders } from "./reply.ts";
import type { Uploads } from "../limits/uploads.ts";

const BODY_BYTES = 4 * 1024;

type Step = "code" | "token";

/** Throws `Refusal` for invalid bodies and fields; errors that RFC 8628 defines are answers of status 400 in its shape. */
export function deviceHandlers(
  devices: Pick<Devices, "ask" | "fetch">,
  uploads: Uploads,
): Record<Step, ApiHandler> {
  return {
    code: async (request, { requestId, visitor }) => {
      const body = await bodyOf(request, strangersRoom(uploads, "device_code", visitor.address));
      const { host, version } = readFields(deviceCodeInput, body);
      return reply(requestId, await devices.ask({ host, version, address: visitor.address }));
    },
    token: async (request, { requestId, visitor }) => {
      const body = await bodyOf(request, strangersRoom(uploads, "device_token", visitor.address));
      const { device_code } = readFields(deviceTokenInput, body);
      try {
        return reply(requestId, await devices.fetch(device_code, { address: visitor.address, requestId }));
      } catch (error) {
        if (!(error instanceof DeviceRefusal)) throw error;
        return reply(requestId, { error: error.code, error_description: error.message }, 400);
      }
    },
  };
}

const bodyOf = async (request: Request, room: Pick<BodyTerms, "uploads" | "account">): Promise<unknown> =>
  parseJson(await readJsonBody(request, { ...room, limitBytes: BODY_BYTES }));

interface RefusedJson {
  error: string;
  error_description: string;
}

const reply = (
  requestId: string,
  answer: DeviceCodeJson | DeviceTokenJson | RefusedJson,
  status = 200,
): Response =>
  new Response(JSON.stringify(answer), {
    status,
    headers: { ...unkeptHeaders(requestId), "x-content-type-options": "nosniff" },
  });
