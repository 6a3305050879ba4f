// Sends one mail over SMTP to the operator's mail server. A server that hangs, drips or refuses costs ten
// seconds and an error sentence; nothing else waits for it. The protocol library is loaded with the first
// mail.
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { fitToShow } from "../../providers/http/words.ts";
import { type Sent, TRY_MS } from "../sent.ts";
import { type Mail, printMail, type Sender } from "./message.ts";

/** The operator's SMTP server, as the configuration names it. */
export interface MailServer {
  host: string;
  port: number;
  /** `none` is for servers on this machine or on the operator's own network. */
  security: "tls" | "starttls" | "none";
  signIn: { user: string; password: string } | null;
  from: Sender;
}

/** Mail servers limit connections, too. */
export const MAILS_AT_ONCE = 5;
/** The most bytes of a server's response that are read. */
const ANSWER_BYTES = 64 * 1024;

/** A failure as the library reports it. */
interface SmtpError {
  code?: string;
  /** The system's own code, if the library has put its kind of failure in `code`. */
  originalCode?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

class Late extends Error {}

/** Connections to one mail server: each carries one mail at a time, and mails use them in turn. */
export class Mailer {
  /** The last mail on each connection; a mail waits for the one before it, within its own time limit. */
  private readonly lanes: Promise<unknown>[] = Array.from({ length: MAILS_AT_ONCE }, () => Promise.resolve());
  private next = 0;

  constructor(
    private readonly server: MailServer,
    /**
     * Receives the errors that no recipient caused: the server does not respond, or does not accept our
     * sign-in.
     */
    private readonly failed: (error: unknown) => void,
    private readonly withinMs = TRY_MS,
  ) {}

  /** Never throws, and ends within its time limit. */
  send(mail: Mail): Promise<Sent> {
    const endsAt = performance.now() + this.withinMs;
    const lane = this.next++ % MAILS_AT_ONCE;
    const sent = (this.lanes[lane] ?? Promise.resolve()).then(() => this.try(mail, endsAt));
    this.lanes[lane] = sent;
    return sent;
  }

  private async try(mail: Mail, endsAt: number): Promise<Sent> {
    try {
      const left = endsAt - performance.now();
      if (left <= 0) throw new Late();
      return { kind: "delivered", status: await converse(this.server, mail, Math.ceil(left)) };
    } catch (error) {
      const sent = judge(error, { ...this.server, withinMs: this.withinMs });
      if (sent.ours) this.failed(new Error(`mail server ${this.server.host}: ${sent.error}`));
      return { kind: sent.kind, status: sent.status, error: sent.error };
    }
  }
}

/** Runs the whole conversation and closes the connection however it ends. */
async function converse(server: MailServer, mail: Mail, withinMs: number): Promise<number> {
  const { default: Connection } = await import("nodemailer/lib/smtp-connection");
  const connection = new Connection({
    host: server.host,
    port: server.port,
    secure: server.security === "tls",
    requireTLS: server.security === "starttls",
    ignoreTLS: server.security === "none",
    connectionTimeout: withinMs,
    greetingTimeout: withinMs,
    socketTimeout: withinMs,
    dnsTimeout: withinMs,
    socketCloseTimeout: 1_000,
    maxResponseSize: ANSWER_BYTES,
    tls: { minVersion: "TLSv1.2" },
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new Promise<never>((_, reject) => {
    connection.on("error", reject);
    timer = setTimeout(() => reject(new Late()), withinMs);
  });
  try {
    return await Promise.race([ended, speak(connection, server, mail)]);
  } finally {
    clearTimeout(timer);
    connection.close();
  }
}

async function speak(connection: SMTPConnection, server: MailServer, mail: Mail): Promise<number> {
  await step((done) => connection.connect(done));
  const { signIn } = server;
  if (signIn !== null)
    await step((done) =>
      connection.login({ credentials: { user: signIn.user, pass: signIn.password } }, done),
    );
  const envelope = { from: server.from.address, to: [mail.to] };
  await step((done) => connection.send(envelope, printMail(mail, server.from), done));
  connection.quit();
  return 250;
}

const step = (begin: (done: (error?: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => begin((error) => (error ? reject(error) : resolve())));

/** Turns an error into a sentence that members read: it quotes the server only on this mail. */
function judge(
  error: unknown,
  { signIn, withinMs }: MailServer & { withinMs: number },
): { kind: "failed" | "refused"; status: number | null; error: string; ours: boolean } {
  const told: SmtpError = typeof error === "object" && error !== null ? error : {};
  const { code = "", originalCode = "", command = "", response = "" } = told;
  const status = told.responseCode ?? null;
  const ours = (sentence: string) => ({ kind: "failed" as const, status, error: sentence, ours: true });
  if (error instanceof Late || code === "ETIMEDOUT")
    return ours(`The mail server did not answer within ${withinMs / 1000} seconds.`);
  if (code === "EAUTH" || command.startsWith("AUTH"))
    return ours(
      `The mail server rejected this gateway's user name and password${status === null ? "" : ` (${status})`}.`,
    );
  if (status !== null) {
    const words = fitToShow(response, signIn === null ? [] : [signIn.password]) ?? String(status);
    const ofRecipient = /^(RCPT|DATA)/.test(command);
    return {
      kind: ofRecipient && status >= 500 ? "refused" : "failed",
      status,
      error: `The mail server answered: ${words}`,
      ours: !ofRecipient,
    };
  }
  if (code === "ETLS" || /CERT|TLS|SSL/.test(originalCode))
    return ours(`The mail server's certificate or encryption cannot be trusted (${originalCode || code}).`);
  return ours(`No connection to the mail server (${originalCode || code || "no reason given"}).`);
}
