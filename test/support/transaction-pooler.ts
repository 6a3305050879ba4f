// A minimal pooler in transaction mode in front of PostgreSQL: clients share the server's connections, each for the
// length of a transaction. Session settings and locks of one client reach others. It drops the clients' options.
import { connect, createServer, type Server, type Socket } from "node:net";

/** Which idle connection is lent next: the last one returned, as PgBouncer does, or the one that was idle longest. */
type Order = "last" | "round robin";

/** The header of a message, its type first; the first message of a connection has no type. */
const HEADER = 5;
const message = (type: string, body: Buffer): Buffer => {
  const made = Buffer.alloc(HEADER + body.length);
  made.write(type);
  made.writeInt32BE(body.length + 4, 1);
  body.copy(made, HEADER);
  return made;
};
const IDLE = message("Z", Buffer.from("I"));
/** Authentication is done, the process is number 1, it is ready for queries. */
const WELCOME = Buffer.concat([message("R", Buffer.alloc(4)), message("K", Buffer.alloc(8, 1)), IDLE]);

/** The complete messages in `bytes`, and the rest. */
function messagesIn(bytes: Buffer): { messages: Buffer[]; rest: Buffer } {
  const messages: Buffer[] = [];
  let at = 0;
  while (bytes.length - at >= HEADER && bytes.length - at > bytes.readInt32BE(at + 1)) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    messages.push(bytes.subarray(at, end));
    at = end;
  }
  return { messages, rest: bytes.subarray(at) };
}

const typeOf = (of: Buffer): string => String.fromCharCode(of[0] ?? 0);

/** One connection to the server. */
interface Lent {
  socket: Socket;
  to: Client | null;
}

/** One of the pooler's clients, with the requests that wait for a connection. */
interface Client {
  socket: Socket;
  asked: Buffer[];
  /** Answers that must arrive before its transaction may have ended. */
  owed: number;
  on: Lent | null;
}

export class TransactionPooler {
  private readonly idle: Lent[] = [];
  private readonly waiting: Client[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly order: Order,
  ) {}

  static async start(
    databaseUrl: string,
    { servers, order }: { servers: number; order: Order },
  ): Promise<TransactionPooler> {
    const server = createServer();
    const pooler = new TransactionPooler(server, order);
    for (let made = 0; made < servers; made += 1) await pooler.open(new URL(databaseUrl));
    server.on("connection", (socket) => pooler.welcome(socket));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return pooler;
  }

  /** The database's URL through this pooler. */
  through(databaseUrl: string): string {
    const address = this.server.address();
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
    return url.href;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((stopped) => this.server.close(stopped));
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on("error", () => {}); // closed with it
    socket.on("close", () => this.sockets.delete(socket));
  }

  private async open({ hostname, port, username, pathname }: URL): Promise<void> {
    const socket = connect({ host: hostname, port: Number(port || 5432) });
    this.keep(socket);
    const who = Buffer.from(`user\0${username}\0database\0${pathname.slice(1)}\0\0`);
    const first = message("-", Buffer.concat([Buffer.from([0, 3, 0, 0]), who])).subarray(1);
    socket.write(first);
    const lent: Lent = { socket, to: null };
    const ready = Promise.withResolvers<void>();
    let rest: Buffer = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      const read = messagesIn(Buffer.concat([rest, bytes]));
      ({ rest } = read);
      for (const answer of read.messages) this.answer(lent, answer, ready.resolve);
    });
    await ready.promise;
  }

  private answer(lent: Lent, answer: Buffer, ready: () => void): void {
    const { to } = lent;
    if (to === null) {
      if (!answer.equals(IDLE)) return; // the greeting at its start
      this.idle.push(lent);
      return ready();
    }
    to.socket.write(answer);
    if (typeOf(answer) !== "Z") return;
    to.owed -= 1;
    if (to.owed > 0 || !answer.equals(IDLE)) return;
    [lent.to, to.on] = [null, null];
    this.idle.push(lent);
    const next = this.waiting.shift();
    if (next !== undefined) this.lend(next);
  }

  private welcome(socket: Socket): void {
    this.keep(socket);
    const client: Client = { socket, asked: [], owed: 0, on: null };
    let rest: Buffer | null = null;
    socket.on("data", (bytes: Buffer) => {
      if (rest === null) {
        rest = bytes.subarray(bytes.readInt32BE(0)); // the startup message with user and options: dropped
        socket.write(WELCOME);
      } else rest = Buffer.concat([rest, bytes]);
      const read = messagesIn(rest);
      ({ rest } = read);
      for (const asked of read.messages) this.take(client, asked);
    });
  }

  private take(client: Client, asked: Buffer): void {
    if (typeOf(asked) === "X") return void client.socket.end();
    client.asked.push(asked);
    if (!"QS".includes(typeOf(asked))) return;
    client.owed += 1;
    if (client.on === null) this.lend(client);
    else this.send(client, client.on);
  }

  private lend(client: Client): void {
    const lent = this.order === "last" ? this.idle.pop() : this.idle.shift();
    if (lent === undefined) return void this.waiting.push(client);
    [lent.to, client.on] = [client, lent];
    this.send(client, lent);
  }

  private send(client: Client, { socket }: Lent): void {
    for (const asked of client.asked.splice(0)) socket.write(asked);
  }
}
