// The simulator: a real HTTP server of the providers' wire formats on a loopback port (interfaces.md §6), so that
// demos, tests and fault runs need no account anywhere. It uses `node:http`, because its faults need the socket
// itself.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { listenFailure } from "../../lib/listen-failure.ts";
import { listeningAddress } from "../../lib/listening-address.ts";
import { answerTo } from "./answer.ts";
import { type Behaviour, Behaviours, type Control, controlSchema } from "./behaviour.ts";
import { ProviderBill, type BilledCall, type OpenCall } from "./bill.ts";
import { type Face, FaceRefusal, type Heard } from "./face.ts";
import { countingFace, countsClaude } from "./anthropic/counting.ts";
import { FACES } from "./faces.ts";
import { completionTokensOf } from "./print.ts";
import { type Step, streamOf } from "./stream.ts";

export interface Simulator {
  /** `http://127.0.0.1:port`; the API is below `/v1`. */
  url: string;
  behave(control: Control): void;
  /** Ends every order of `behave`. */
  behaveWell(): void;
  bill(): BilledCall[];
  stop(): Promise<void>;
}

/** Throws `ListenFailure` if the port cannot be opened. */
export async function startSimulator(options: { port: number; host?: string }): Promise<Simulator> {
  const [bill, behaviours] = [new ProviderBill(), new Behaviours()];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    route({ bill, behaviours }, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else
        reply(response, 400, {
          error: {
            message: error instanceof Error ? error.message : "unreadable",
            type: "invalid_request_error",
            param: null,
            code: null,
          },
        });
    });
  });
  const host = options.host ?? "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenFailure(error, { host, port: options.port })));
    server.listen(options.port, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the simulator has no port");
  return {
    url: listeningAddress({ host, port: address.port }),
    behave: (control) => behaviours.add(control),
    behaveWell: () => behaviours.clear(),
    bill: () => bill.calls(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const FLUSH_MS = 20;

interface Rooms {
  bill: ProviderBill;
  behaviours: Behaviours;
}

async function route(rooms: Rooms, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://simulator");
  if (request.method === "POST" && countsClaude(pathname))
    return await counted(response, JSON.parse(await readText(request)), { path: pathname, request });
  const face = request.method === "POST" ? FACES.find((one) => one.serves(pathname)) : undefined;
  if (face !== undefined) return await called({ ...rooms, face, path: pathname }, request, response);
  const at = `${request.method} ${request.url}`;
  switch (at) {
    case "GET /v1/models":
      return reply(response, 200, { object: "list", data: [] });
    case "GET /_sim/ledger":
      return reply(response, 200, { calls: rooms.bill.calls() });
    case "DELETE /_sim/ledger":
      rooms.bill.clear();
      return reply(response, 200, { calls: [] });
    case "POST /_sim":
      rooms.behaviours.add(controlSchema.parse(JSON.parse(await readText(request))));
      return reply(response, 200, { ok: true });
    case "DELETE /_sim":
      rooms.behaviours.clear();
      return reply(response, 200, { ok: true });
    default:
      return reply(response, 404, {
        error: { message: `no ${at} here`, type: "invalid_request_error", param: null, code: "unknown_url" },
      });
  }
}

/** Free of charge: no call on any bill. */
async function counted(
  response: ServerResponse,
  body: unknown,
  { path, request }: { path: string; request: IncomingMessage },
): Promise<void> {
  const heard = hear(countingFace, body, { path, headers: request.headers });
  if (heard instanceof FaceRefusal) {
    const { status = 400, code = null } = heard.about;
    return reply(response, status, countingFace.refusal({ status, code, message: heard.message }));
  }
  reply(response, 200, { input_tokens: (await answerTo(heard.asked, {})).promptTokens });
}

type Called = Rooms & { face: Face; path: string };

async function called(at: Called, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { bill, behaviours, face, path } = at;
  const body: unknown = JSON.parse(await readText(request));
  const from = {
    request_id: header(request, "x-request-id"),
    attempt: Number(header(request, "x-tollgate-attempt")) || null,
  };
  const heard = hear(face, body, { path, headers: request.headers });
  if (heard instanceof FaceRefusal) {
    const { status = 400, code = null, model = "" } = heard.about;
    bill.open({ ...from, model, stream: false }).end("refused");
    return reply(response, status, face.refusal({ status, code, message: heard.message }));
  }
  const { asked } = heard;
  const behaviour = behaviours.take(asked.model, header(request, "x-sim"));
  const call = bill.open({ ...from, model: asked.model, stream: asked.stream === true });
  response.once("close", () => call.end("cut"));
  if (behaviour.until_well === true) await orClosed(response, whenEnded(behaviours));
  if (behaviour.latency_ms !== undefined) await pause(behaviour.latency_ms, response);
  if (response.destroyed) return;
  if (behaviour.hang === true) return;
  if (behaviour.reset_before_headers === true) {
    request.socket.destroy();
    return;
  }
  if (behaviour.status !== undefined) return refuse(response, behaviour, { call, face });
  if (behaviour.garbage !== undefined) return garbage(response, behaviour.garbage);
  await answer({ face, heard, behaviour, call, response });
}

function hear(
  face: Face,
  body: unknown,
  { path, headers }: { path: string; headers: IncomingHttpHeaders },
): Heard | FaceRefusal {
  try {
    return face.hear(body, path, headers);
  } catch (error) {
    if (error instanceof FaceRefusal) return error;
    throw error;
  }
}

interface Run {
  face: Face;
  heard: Heard;
  behaviour: Behaviour;
  call: OpenCall;
  response: ServerResponse;
}

async function answer(run: Run): Promise<void> {
  const { heard, behaviour, call, response } = run;
  const answered = await (heard.run?.() ?? answerTo(heard.asked, behaviour));
  call.runs(answered.promptTokens);
  if (heard.asked.stream === true)
    return await play(run, streamOf(heard.stream(answered, behaviour), behaviour));
  const tokens = completionTokensOf(answered);
  call.generated(tokens);
  if (behaviour.tokens_per_second !== undefined)
    await pause((tokens * 1000) / behaviour.tokens_per_second, response);
  if (response.destroyed) return;
  call.end("finished");
  reply(response, 200, behaviour.error_in_body === true ? heard.failed : heard.whole(answered, behaviour));
}

async function play({ face, behaviour, call, response }: Run, steps: Iterable<Step>): Promise<void> {
  response.writeHead(200, { "content-type": face.contentType, "cache-control": "no-cache" });
  response.flushHeaders();
  if (behaviour.first_event_ms !== undefined) await pause(behaviour.first_event_ms, response);
  for (const step of steps) {
    if (response.destroyed) return;
    if (step.do === "hang") return;
    if (step.do === "reset") {
      await pause(FLUSH_MS, response); // lets what was sent before arrive
      response.socket?.destroy();
      return;
    }
    call.generated(step.tokens);
    if (!response.write(step.bytes)) await drained(response);
    if (behaviour.tokens_per_second !== undefined && step.tokens > 0)
      await pause((step.tokens * 1000) / behaviour.tokens_per_second, response);
  }
  call.end("finished");
  response.end();
}

function refuse(
  response: ServerResponse,
  behaviour: Behaviour,
  { call, face }: Pick<Run, "call" | "face">,
): void {
  call.end("refused");
  const {
    status = 500,
    error_code: code = null,
    error_message: message = "ordered by the test",
    retry_after_s: after,
    location,
  } = behaviour;
  if (after !== undefined) response.setHeader("retry-after", String(after));
  if (location !== undefined) response.setHeader("location", location);
  reply(response, status, face.refusal({ status, code, message }));
}

function garbage(response: ServerResponse, kind: NonNullable<Behaviour["garbage"]>): void {
  const type = { html: "text/html", json: "application/json", line: "text/event-stream" }[kind];
  response.writeHead(200, { "content-type": type });
  response.end(
    {
      html: "<html><body>Bad gateway</body></html>",
      json: `{"choices":[{"index":0,`,
      line: 'data: {"choices":[{\n\n',
    }[kind],
  );
}

function reply(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  });
  response.end(body);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

const header = (request: IncomingMessage, name: string): string | null => {
  const value = request.headers[name];
  return typeof value === "string" ? value : null;
};

/** Resolves early if the client has disconnected. */
const pause = (ms: number, response: ServerResponse): Promise<void> =>
  orClosed(response, (resolve) => {
    const timer = setTimeout(resolve, ms);
    return () => clearTimeout(timer);
  });

const whenEnded = (behaviours: Behaviours) => (resolve: () => void) => {
  void behaviours.ended.then(resolve);
  return () => {};
};

const drained = (response: ServerResponse): Promise<void> =>
  orClosed(response, (resolve) => {
    response.once("drain", resolve);
    return () => response.off("drain", resolve);
  });

/** Waits for what `begin` starts or for the client to disconnect, and leaves no listener behind. */
async function orClosed(response: ServerResponse, begin: (resolve: () => void) => () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = begin(resolve);
  response.once("close", resolve);
  await promise;
  response.off("close", resolve);
  end();
}
