// The parts of the library that are used: most of its load time is spent on pushing and gathering
// (performance.md §5).
declare module "prom-client/lib/counter" {
  export { Counter as default } from "prom-client";
}
declare module "prom-client/lib/gauge" {
  export { Gauge as default } from "prom-client";
}
declare module "prom-client/lib/registry" {
  export { Registry as default } from "prom-client";
}
/** The metrics of a process, one file each. */
declare module "prom-client/lib/metrics/*" {
  const register: (
    registry: import("prom-client").Registry,
    options: { eventLoopMonitoringPrecision: number },
  ) => void;
  export default register;
}
