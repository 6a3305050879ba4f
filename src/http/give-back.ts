/** Frees a body's memory at once instead of waiting for the garbage collector. */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
