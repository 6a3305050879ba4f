// A name made of parts, such as a code or a route: if it does not fit on a line, it is broken between parts. A part
// longer than a table's line ends in an ellipsis. The text that is read, copied and searched stays the same.
import { Fragment } from "react";

const BETWEEN = /(?<=[_@/:.])/;

export const Parts = ({ of }: { of: string }) => (
  <span className="parts" title={of}>
    {of.split(BETWEEN).map((part, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text, in its order.
      <Fragment key={at}>
        {at > 0 && <wbr />}
        {part}
      </Fragment>
    ))}
  </span>
);
