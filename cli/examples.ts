// The example at the end of each command's `--help`. `test/cli/help.test.ts` runs each of them with its
// command.
import type { Command } from "commander";

const EXAMPLES: Readonly<Record<string, string>> = {
  serve: "--port 8080",
  dev: "--port 8080",
  simulator: "--port 9000",
  doctor: "--config tollgate.yaml",
  ready: "--url http://127.0.0.1:8080",
  "provider test": "claude --model claude-opus-4-5",
  login: "--url https://gateway.example.com",
  logout: "--url https://gateway.example.com",
  "org create": '--name "Acme"',
  "org list": "--json",
  "members list": "--org org_… --search ada",
  "members role": "ada@example.com --org org_… --role admin",
  "members remove": "ada@example.com --org org_…",
  "invitations list": "--org org_…",
  "invitations send": "ada@example.com --org org_… --role developer",
  "invitations resend": "inv_… --org org_…",
  "invitations withdraw": "inv_… --org org_…",
  "credits grant": "--org org_… --usd 25 --kind purchase --reference invoice-17",
  "credits refund": "req_… --usd 0.05 --reference ticket-4",
  "credits show": "--org org_…",
  "credits list": "--org org_… --csv",
  "payments orders": "--org org_…",
  "payments events": "--limit 20",
  "payments confirm": "ord_…",
  "keys create": '--org org_… --name "batch job" --limit-usd 10',
  "keys list": "--org org_…",
  "keys revoke": "key_…",
  "keys rename": 'key_… --name "nightly job"',
  "keys limit": "key_… --usd 25",
  "keys update": "key_… --models base-preview-v1,base-preview-v2 --max-output 2000",
  "keys pause": "key_…",
  "keys resume": "key_…",
  "keys replace": "key_… --overlap 24",
  "limits set": "--org org_… --requests-per-minute 600 --concurrent 50",
  "limits list": "--org org_…",
  "entitlement request": '--org org_… --model base-research-1 --project "red team"',
  "entitlement approve": "ent_… --expires 2027-01-31T00:00:00Z",
  "entitlement revoke": "ent_…",
  "entitlement list": "--org org_…",
  "models import": "--provider anthropic --markup 1.2 --out manifests",
  "models diff": "--markup 1.2",
  "release keygen": "--out keys",
  "release sign": "base.yaml --key keys/release.private.jwk --expires-in 30d",
  "release verify": "base.jws --trust keys/release.public.jwk",
  "release publish": "base.jws",
  "release list": "--json",
  "route list": "--watch 5",
  "route disable": 'base-preview-v1@simulator/local --reason "moves to another region"',
  "route enable": "base-preview-v1@simulator/local",
  usage: "--org org_… --from 2026-11-01 --group-by key",
  "request show": "req_…",
  "request verify": "req_… --jwks jwks.json",
  "request list": "--org org_… --status refused --limit 20",
  "request tail": "--org org_… --key key_…",
  "receipt verify": "receipt.json --jwks jwks.json",
  statement: "--org org_… --month 2026-11 --pdf",
  "alerts list": "--org org_…",
  "alerts add": "--org org_… --kind balance_below --usd 5 --channels chn_…",
  "alerts change": "alr_… --org org_… --usd 10",
  "alerts remove": "alr_… --org org_…",
  "alerts deliveries": "--org org_…",
  "channels list": "--org org_…",
  "channels add": '--org org_… --name "Ops" --webhook https://hooks.example.com/tollgate',
  "channels remove": "chn_… --org org_…",
  "channels test": "chn_… --org org_…",
  "ledger audit": "--json",
  "ledger quarantine": "--limit 20",
  "ledger resolve": 'req_… --release --reason "its record cannot be read"',
  "ledger resume": 'org_… --reason "the balance was put back from the backup"',
  "people list": "--json",
  "people reset": "ada@example.com --two-factor",
  "setup codex": "--dry-run",
  "setup claude-code": "--dry-run",
  "setup opencode": "--dry-run",
  "db migrate": "--data-dir data",
  "db key": "/run/secrets/data.key --data-dir data",
  "db rotate-key": "--data-dir data",
  "db move": "--to postgres://tollgate@db.example.com/tollgate",
  "db backup": "backup.db",
  "db restore": "backup.db",
  seed: "--data-dir seeded --days 14",
  completion: "bash",
};

/**
 * The command's example, with its name; for a command that only groups others, the example of the first of
 * them.
 */
export function exampleOf(command: Command): string {
  const path = pathOf(command);
  const own = EXAMPLES[path];
  if (own !== undefined) return `${path} ${own}`;
  const [first] = command.commands;
  return first === undefined ? path : exampleOf(first);
}

/** The command's words, without the program's name. */
const pathOf = (command: Command): string =>
  command.parent === null ? "" : `${pathOf(command.parent)} ${command.name()}`.trim();
