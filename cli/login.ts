// `login` gets a management key for the user of this terminal, approved in the browser by an operator (RFC 8628), and
// stores it in the configuration directory; `logout` ends it.
import { hostname } from "node:os";
import type { Command } from "commander";
import { VERSION } from "../src/domain/program.ts";
import { credentialsFile, findLogin, makeRoom, readLogins, writeLogin } from "./credentials.ts";
import { type Asked, askForCodes, waitForKey } from "./device.ts";
import { gatewayAddress, isLoopback, openGateway } from "./gateway.ts";
import { Problem } from "./problem.ts";
import { report, say } from "./report.ts";
import { fields } from "./table.ts";

export function addLogin(program: Command): void {
  program
    .command("login")
    .description("get a management key for this machine, approved by an operator in the browser")
    .action((_: object, command: Command) =>
      report(command, async ({ options }) => {
        const address = await gatewayAddress(options);
        const file = credentialsFile();
        const before = readLogins(file)[address];
        makeRoom(file);
        if (address.startsWith("http:") && !isLoopback(new URL(address)))
          say(
            `${address} is not encrypted: anyone on the network path can read the key. Use https if you can.`,
          );
        const asked = await askForCodes(address, { host: hostOfHere(), version: VERSION });
        say(invitation(asked));
        const { access_token: token, key, name, person, expires_at } = await waitForKey(address, asked);
        writeLogin(address, { token, key, person, expires_at }, file);
        if (before !== undefined) await endQuietly(address, before.token);
        const shown = { gateway: address, person, key, name, expires_at, file };
        return { json: JSON.stringify(shown), text: `Logged in.\n${fields(shown)}` };
      }),
    );
}

export function addLogout(program: Command): void {
  program
    .command("logout")
    .description("revoke the key obtained by login, and forget it")
    .option("--forget", "forget it even if the gateway does not answer; the key then lasts until it expires")
    .action(({ forget }: { forget?: boolean }, command: Command) =>
      report(command, async ({ options }) => {
        const found = findLogin(options.url ?? (process.env["TOLLGATE_URL"] || undefined));
        if (found === null)
          throw new Problem(
            "You are not logged in.",
            "Log in with ./tollgate login, or name the gateway with --url.",
          );
        const { address, login } = found;
        const revoked = await end(address, login.token, forget === true);
        writeLogin(address, null);
        const json = JSON.stringify({ gateway: address, key: login.key, revoked });
        return {
          json,
          text: revoked
            ? `Logged out of ${address}; ${login.key} is revoked.`
            : `${login.key} is forgotten here, not revoked. Revoke it on the People page of ${address}.`,
        };
      }),
    );
}

/** The name that the operator reads on the page: one printable line. */
const hostOfHere = (): string =>
  hostname()
    .replaceAll(/\p{Cc}/gu, "")
    .slice(0, 100)
    .trim() || "unknown";

const invitation = ({ user_code, verification_uri, verification_uri_complete }: Asked): string =>
  `Open ${verification_uri} and type this code:\n\n    ${user_code}\n\nOr open ${verification_uri_complete} and compare it there.`;

/** True if the key is revoked, now or before. */
async function end(url: string, token: string, forget: boolean): Promise<boolean> {
  try {
    await openGateway({ url, token }).call("POST /admin/v1/logout", {});
    return true;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.document?.includes('"invalid_api_key"') === true) return true;
    if (forget) return false;
    throw new Problem(error.message, `${error.next} Or forget the login with --forget.`, error.document);
  }
}

/** Ends the key of an earlier login that a new one replaces. */
async function endQuietly(address: string, token: string): Promise<void> {
  if (!(await end(address, token, true)))
    say("The key of your earlier login could not be revoked; it is on the People page.");
}
