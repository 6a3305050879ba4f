// What a start prints on the terminal: the gateway's URL, and on the first start a key and a command to
// paste.

interface Ready {
  baseUrl: string;
  /** The link exists only until the first account does. */
  dashboard: { url: string; signInLink: string | null };
  /** No release is published. */
  sellsNothing: boolean;
  demo: { secret: string; model: string } | null;
  /** How the command line is called here. */
  program: string;
  /** How the command line is called to find this gateway. */
  command: string;
}

/** The text for stdout; `demo` is printed only on the first start. */
export function banner(at: Ready): string {
  const lines = [`Tollgate is ready.`, ``, `  Base URL   ${at.baseUrl}`, `  Dashboard  ${at.dashboard.url}`];
  if (at.dashboard.signInLink !== null) {
    lines.push(
      `  Sign in    ${at.dashboard.signInLink}`,
      `             creates the first account; works once, within an hour`,
    );
  }
  if (at.demo !== null) {
    lines.push(
      `  Demo key   ${at.demo.secret}`,
      `             shown only now; it has $5.00 of credits`,
      ``,
      `Try it:`,
      ``,
      `  curl ${at.baseUrl}/chat/completions \\`,
      `    -H "Authorization: Bearer ${at.demo.secret}" \\`,
      `    -H "Content-Type: application/json" \\`,
      `    -d '{"model":"${at.demo.model}","messages":[{"role":"user","content":"Say hello"}]}'`,
    );
  }
  if (at.sellsNothing)
    lines.push(``, `No model is served yet: sign a release and publish it (docs/releases.md).`);
  lines.push(``, `Operate it with ${at.command} (see ${at.program} --help). Ctrl-C stops it.`, ``);
  return lines.join("\n");
}
