/** Milliseconds of CPU that this process has used: for a bound on work, which no other process can make longer. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
