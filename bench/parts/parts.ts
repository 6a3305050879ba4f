// What a gateway's shell does around a call, part by part, in the order of performance.md §5. The proxy beside this
// file does each of them on request; `npm run bench -- --only parts` prints what each costs over the bare proxy.

export const PARTS = [
  "nine headers read",
  "body as text",
  "server.timeout() twice",
  "one AbortController, tied to the client",
  "a second AbortController, tied to the first",
  "two setTimeout, cleared",
  "five more headers upstream",
  "redirect, proxy and timeout options",
  "answer by text()",
  "request and answer parsed and printed",
  "four more headers in the answer",
  "requestIP()",
  "a pino line to /dev/null",
  "the same line in one buffered write",
  "two setImmediate",
  "twenty awaits",
  "thirteen async functions around one another",
  "250 objects for the collector",
  "300 functions, each called once",
  "ten of them, each called 30 times",
] as const;

export type Part = (typeof PARTS)[number];
