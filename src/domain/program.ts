// The version of this program, as reported by the dashboard, the operator API and the command line.
export const VERSION = "0.1.0";
