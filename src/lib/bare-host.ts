/** The host of an address as sockets and lookups want it: without the brackets of an IPv6 address. */
export const bareHost = ({ hostname }: Pick<URL, "hostname">): string => hostname.replace(/^\[|\]$/g, "");
