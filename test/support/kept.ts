// A keep-alive connection for one call after another, as a client or a proxy uses it.
import type { Socket } from "node:net";
import { openSocket } from "./raw.ts";
import { waitFor } from "./wait.ts";

export class Kept {
  closed = false;
  text = "";
  private readonly socket: Socket;

  constructor(url: string) {
    this.socket = openSocket(url);
    this.socket.on("close", () => (this.closed = true));
    this.socket.on("data", (bytes) => (this.text += bytes.toString("latin1")));
  }

  ask(target: string, body: unknown = null, ...headers: string[]): void {
    const text = body === null ? "" : JSON.stringify(body);
    const length = body === null ? [] : ["Content-Type: application/json", `Content-Length: ${text.length}`];
    this.socket.write(
      `${[`${target} HTTP/1.1`, "Host: x", ...headers, ...length].join("\r\n")}\r\n\r\n${text}`,
    );
  }

  /** Waits for so many answers, or for the last chunk of a chunked one. */
  async answered(answers = 1): Promise<string> {
    const whole = (): boolean =>
      this.text.split("HTTP/1.1 ").length > answers &&
      (!/transfer-encoding: chunked/i.test(this.text) || this.text.endsWith("0\r\n\r\n"));
    await waitFor(async () => this.closed || whole(), "an answer");
    return this.text;
  }
}
