// A customer's webhook endpoint: stores what arrives and checks its signature as specified, with code of its own.
import { createHmac, timingSafeEqual } from "node:crypto";

interface Arrived {
  id: string;
  genuine: boolean;
  body: { type: string; timestamp: string; data: Record<string, unknown> };
}

export interface Receiver {
  url: string;
  arrived: Arrived[];
  /** Status of the next answers. */
  answers: number;
  secret: string;
  stop(): Promise<void>;
}

export function startReceiver(): Receiver {
  const receiver: Receiver = {
    url: "",
    arrived: [],
    answers: 204,
    secret: "",
    stop: async () => {
      await server.stop(true);
    },
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const text = await request.text();
      const id = request.headers.get("webhook-id") ?? "";
      receiver.arrived.push({
        id,
        genuine: isGenuine(request.headers, text, receiver.secret),
        body: JSON.parse(text) as Arrived["body"],
      });
      const location = receiver.answers === 302 ? { location: `${receiver.url}elsewhere` } : {};
      return new Response(null, { status: receiver.answers, headers: location });
    },
  });
  receiver.url = `http://127.0.0.1:${server.port}/`;
  return receiver;
}

function isGenuine(headers: Headers, body: string, secret: string): boolean {
  const signed = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`;
  const expected = createHmac("sha256", Buffer.from(secret.split("_")[1] ?? "", "base64"))
    .update(signed)
    .digest();
  return (headers.get("webhook-signature") ?? "").split(" ").some((signature) => {
    const [version, value = ""] = signature.split(",");
    const given = Buffer.from(value, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
