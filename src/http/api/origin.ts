// Accepts changes from our own pages only (hardening.md S26). The browser says where a request comes from; a foreign page can
// neither forge that nor send JSON without a preflight.
import { OperatorRefusal } from "../../domain/operator-refusals.ts";

const READING = new Set(["GET", "HEAD"]);

/** Throws 403 for a change with a missing or foreign Origin. */
export function checkOrigin(request: Request, origins: readonly string[]): void {
  if (READING.has(request.method)) return;
  const origin = request.headers.get("origin");
  if (origin !== null && origins.includes(origin)) return;
  const told = origin === null ? "without an Origin" : "from another origin";
  throw new OperatorRefusal(
    "origin_not_allowed",
    `Changes ${told} are refused. Open the dashboard at ${origins[0]}; if people reach it elsewhere, set public_url.`,
    "Origin",
  );
}
