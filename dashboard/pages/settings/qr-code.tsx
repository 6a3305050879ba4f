// A QR code as one path. Black on white in both themes, with its quiet zone, because cameras read nothing else
// reliably.
import encodeQR from "qr";

/** Modules of white around the code. */
const QUIET_ZONE = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, "raw", { border: QUIET_ZONE });
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      width={216}
      height={216}
      shapeRendering="crispEdges"
      style={{ flex: "none", borderRadius: "var(--mantine-radius-md)" }}
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={pathOf(rows)} fill="#000" />
    </svg>
  );
}

/** Each run of dark modules is one bar. */
const pathOf = (rows: readonly boolean[][]): string =>
  rows
    .flatMap((row, y) =>
      [
        ...row
          .map((dark) => (dark ? "1" : "0"))
          .join("")
          .matchAll(/1+/g),
      ].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`),
    )
    .join("");
