/** At once: what of a body is not needed any more must not stay in memory until the collector comes. */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
