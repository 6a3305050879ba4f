// What a start prints on the terminal: where the gateway is, and on the first start a key and a command to paste.

/** The text for stdout; `demo` only on the first start. */
export function banner(at: { baseUrl: string; demo: { secret: string; model: string } | null }): string {
  const lines = [`Tollgate is ready.`, ``, `  Base URL   ${at.baseUrl}`];
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
  lines.push(``, `Operate it with ./tollgate (see ./tollgate --help). Ctrl-C stops it.`, ``);
  return lines.join("\n");
}
