// The icons, drawn inline: one stroke, 24 units, no font and no other host. Always beside a text, so hidden from
// screen readers.

const SHAPES = {
  overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z",
  keys: "M14.5 9.5a5 5 0 1 1-3-3M11 12l9-9M16 7l3 3",
  usage: "M4 20V10M10 20V4M16 20v-7M21 20H3",
  activity: "M3 12h4l3-8 4 16 3-8h4",
  billing: "M3 7a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2zM3 10h18M7 15h3",
  models: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5",
  playground: "M8 5l11 7-11 7z",
  research: "M9 3h6M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M7.5 15h9",
  team: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5a6.5 6.5 0 0 1 3.5 5.5",
  alerts: "M6 16V11a6 6 0 1 1 12 0v5l2 2H4zM10 21h4",
  audit: "M7 3h8l4 4v14H7zM15 3v4h4M10 12h6M10 16h6",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  organizations: "M4 21V5h9v16M13 10h7v11M3 21h18M7 9h3M7 13h3M7 17h3M16 14h1M16 17h1",
  requests: "M4 6h9M4 12h5M4 18h4M15.500 18.500a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM18.500 17.500l3 3",
  credits:
    "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM14.5 9.5c-.5-1-1.5-1.5-2.5-1.5-1.500 0-2.500.8-2.500 2s1 1.700 2.500 2 2.500.8 2.500 2-1 2-2.500 2c-1 0-2-.5-2.500-1.500M12 6.500v11",
  routes: "M6 6a2 2 0 1 0 0-.01M18 18a2 2 0 1 0 0-.01M8 6h6a4 4 0 0 1 0 8h-4a4 4 0 0 0 0 4h6",
  entitlements: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4",
  providers: "M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01",
  health: "M12 20s-8-5-8-11a4.500 4.500 0 0 1 8-2.500A4.500 4.500 0 0 1 20 9c0 6-8 11-8 11z",
  ledger: "M5 4h14v16H5zM9 4v16M12 9h4M12 13h4",
  people: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5",
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  check: "M5 13l4 4L19 7",
  cross: "M6 6l12 12M18 6L6 18",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
  columns: "M4 5h16v14H4zM9.5 5v14M15 5v14",
  pause: "M9 5v14M15 5v14",
  repeat: "M4 11a8 8 0 0 1 14-4l2 2M20 4v5h-5M20 13a8 8 0 0 1-14 4l-2-2M4 20v-5h5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  screen: "M3 5h18v12H3zM9 21h6M12 17v4",
  down: "M6 9l6 6 6-6",
  right: "M9 6l6 6-6 6",
  plus: "M12 5v14M5 12h14",
  filter: "M4 6h16M7 12h10M10 18h4",
  dash: "M6 12h12",
} as const;
export type IconName = keyof typeof SHAPES;

export const Icon = ({ name, size = 18 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth={1.8}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    style={{ flex: "none" }}
  >
    <path d={SHAPES[name]} />
  </svg>
);
