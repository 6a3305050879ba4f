// Detects unconfirmed commits: if the wait for the synchronous standby was cancelled, a commit is durable on the primary alone,
// and the server reports it only in a warning. This is treated as a lost answer, whose outcome is looked up (money.md §7).
import type { ClientBase, Connection } from "pg";

/** The server routine that sends the warning: its text is translated, and its code is that of every warning. */
const WAIT_FOR_STANDBY = "SyncRepWaitForLSN";

/** Makes the connection look lost to its users when a commit on it was not confirmed. */
export function confirmCommits(client: ClientBase): void {
  client.on("notice", ({ routine }) => {
    if (routine !== WAIT_FOR_STANDBY) return;
    const { connection } = client as ClientBase & { connection: Connection };
    connection.emit("error", new Error("the connection lost a commit's confirmation by the standby"));
  });
}
