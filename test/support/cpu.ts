/** Milliseconds of CPU that this process has used: for limits on work, independent of other processes. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
