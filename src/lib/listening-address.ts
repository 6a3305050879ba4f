// The address at which a listening host and port can be reached.

/** The wildcard hosts, each with an address at which this machine reaches them. */
const EVERYWHERE: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** `http://host:port` as it can be opened on this machine: browsers reject wildcard addresses. */
export function listeningAddress({ host, port }: { host: string; port: number }): string {
  const reached = EVERYWHERE[host] ?? host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

/** True if the host is a wildcard for every network of the machine. */
export const isEverywhere = (host: string): boolean => host in EVERYWHERE;
