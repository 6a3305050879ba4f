// The request of the playground as a program would send it; the key is a place to fill in.

export const printCurl = (baseUrl: string, request: object): string =>
  `curl ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ ...request, stream: true }, null, 2).replaceAll("'", "'\\''")}'`;
