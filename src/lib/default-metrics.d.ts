// What prom-client registers for a process, one file each; its own types name only all of them together.
declare module "prom-client/lib/metrics/*" {
  const register: (
    registry: import("prom-client").Registry,
    options: { eventLoopMonitoringPrecision: number },
  ) => void;
  export default register;
}
