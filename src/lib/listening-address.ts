// Where something answers that listens on a host and a port.

/** What means every network of the machine, and an address there at which this machine reaches it. */
const EVERYWHERE: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** `http://host:port`, as it can be opened on this machine: browsers refuse the addresses that mean all of them. */
export function listeningAddress({ host, port }: { host: string; port: number }): string {
  const reached = EVERYWHERE[host] ?? host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

/** Whether this host is every network of the machine. */
export const isEverywhere = (host: string): boolean => host in EVERYWHERE;
