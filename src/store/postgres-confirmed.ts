// Commits that count: one whose wait for the synchronous standby was cancelled is durable on the primary alone, and the
// server says so in a warning only. For us that is a lost answer, whose outcome is looked up (money.md §7).
import type { ClientBase, Connection } from "pg";

/** Where in the server the warning comes from: its words are translated, its code is that of every warning. */
const WAIT_FOR_STANDBY = "SyncRepWaitForLSN";

/** Loses the connection, to those who use it, when a commit on it was not confirmed. */
export function confirmCommits(client: ClientBase): void {
  client.on("notice", ({ routine }) => {
    if (routine !== WAIT_FOR_STANDBY) return;
    const { connection } = client as ClientBase & { connection: Connection };
    connection.emit("error", new Error("the connection lost a commit's confirmation by the standby"));
  });
}
