// The address of a database as the driver is given it.

const WEAKER = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;

/**
 * `require` and weaker modes check the server, too: encryption for whoever answers protects nothing, and managed databases put
 * `require` into the addresses that they hand out. The driver already reads them so, and warns of it. Who wants less says
 * `sslmode=no-verify`, or `uselibpqcompat=true` for the words' usual meaning.
 */
export const checkingServer = (url: string): string =>
  url.includes("uselibpqcompat=true") ? url : url.replace(WEAKER, "$1verify-full");
