// A mail server on loopback that stores what it is given and answers as a test wants: minimal SMTP, implemented here
// (RFC 5321, RFC 3207, RFC 4954).
import { createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { CERTIFICATE } from "../support/certificate.ts";

interface Arrived {
  from: string;
  to: string[];
  headers: Map<string, string>;
  text: string;
  encrypted: boolean;
  /** The sender's `user:password`. */
  signedIn: string | null;
}

export interface MailReceiver {
  port: number;
  arrived: Arrived[];
  /** Every line it received, to search for what must not be there. */
  heard: string[];
  /** Replacement answers by command; "" is no answer, ever. `greeting` comes before all commands. */
  answers: Record<string, string>;
  offers: string[];
  /** Accepts only `user:password`. */
  password: string | null;
  stop(): Promise<void>;
}

export async function startMailServer(): Promise<MailReceiver> {
  const sockets = new Set<Socket>();
  const receiver: MailReceiver = {
    port: 0,
    arrived: [],
    heard: [],
    answers: {},
    offers: ["STARTTLS", "AUTH PLAIN"],
    password: null,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    new Conversation(receiver, socket).begin();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  receiver.port = typeof bound === "object" && bound !== null ? bound.port : 0;
  return receiver;
}

class Conversation {
  private buffer = "";
  private mail: { from: string; to: string[]; lines: string[] | null } = { from: "", to: [], lines: null };
  private signedIn: string | null = null;

  constructor(
    private readonly receiver: MailReceiver,
    private socket: Socket,
  ) {}

  begin(): void {
    this.listen(this.socket);
    this.say("greeting", "220 mail.example ESMTP");
  }

  private listen(socket: Socket): void {
    socket.on("data", (data: Buffer) => {
      this.buffer += data.toString();
      for (;;) {
        const end = this.buffer.indexOf("\r\n");
        if (end < 0) return;
        const line = this.buffer.slice(0, end);
        this.buffer = this.buffer.slice(end + 2);
        this.hear(line);
      }
    });
  }

  private say(to: string, usual: string): boolean {
    const answer = this.receiver.answers[to];
    if (answer !== "") this.socket.write(`${answer ?? usual}\r\n`);
    return answer === undefined;
  }

  private hear(line: string): void {
    const { mail, receiver } = this;
    if (mail.lines !== null) {
      if (line !== ".") return void mail.lines.push(line.replace(/^\./, ""));
      if (this.say("content", "250 2.0.0 queued")) this.keep(mail.lines);
      this.mail = { from: "", to: [], lines: null };
      return;
    }
    receiver.heard.push(line);
    const verb = (line.split(" ")[0] ?? "").toUpperCase();
    if (verb === "EHLO")
      this.say(
        verb,
        ["250-mail.example", ...receiver.offers.map((one) => `250-${one}`), "250 8BITMIME"].join("\r\n"),
      );
    else if (verb === "STARTTLS") this.encrypt();
    else if (verb === "AUTH") this.signIn(line);
    else if (verb === "MAIL") {
      if (this.say(verb, "250 2.1.0 ok")) mail.from = between(line);
    } else if (verb === "RCPT") {
      if (this.say(verb, "250 2.1.5 ok")) mail.to.push(between(line));
    } else if (verb === "DATA") {
      if (this.say(verb, "354 go on")) mail.lines = [];
    } else if (verb === "QUIT") {
      this.say(verb, "221 2.0.0 bye");
      this.socket.end();
    } else this.say(verb, "502 5.5.2 what?");
  }

  private encrypt(): void {
    if (!this.say("STARTTLS", "220 2.0.0 go ahead")) return;
    this.socket.removeAllListeners("data");
    this.socket = new TLSSocket(this.socket, { isServer: true, ...CERTIFICATE });
    this.socket.on("error", () => undefined);
    this.listen(this.socket);
  }

  private signIn(line: string): void {
    const given = Buffer.from(line.split(" ")[2] ?? "", "base64")
      .toString()
      .split("\0")
      .slice(1)
      .join(":");
    if (given !== this.receiver.password) return void this.say("AUTH", `535 5.7.8 no such user ${given}`);
    this.signedIn = given;
    this.say("AUTH", "235 2.7.0 welcome");
  }

  private keep(lines: string[]): void {
    const gap = lines.indexOf("");
    const headers = lines
      .slice(0, gap)
      .join("\n")
      .replace(/\n[ \t]/g, " ")
      .split("\n");
    this.receiver.arrived.push({
      from: this.mail.from,
      to: this.mail.to,
      headers: new Map(
        headers.map((line) => [line.slice(0, line.indexOf(":")), decoded(line.slice(line.indexOf(":") + 2))]),
      ),
      text: Buffer.from(lines.slice(gap + 1).join(""), "base64").toString(),
      encrypted: this.socket instanceof TLSSocket,
      signedIn: this.signedIn,
    });
  }
}

const between = (line: string): string => line.slice(line.indexOf("<") + 1, line.indexOf(">"));
const decoded = (value: string): string =>
  value
    .replace(/\?= =\?/g, "?==?")
    .replace(/=\?utf-8\?B\?([^?]*)\?=/g, (_, word: string) => Buffer.from(word, "base64").toString());
