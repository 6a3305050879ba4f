// A name that is made of parts, like a code or a route: where it does not fit on a line, it is broken between them, a part that is
// longer than a line of a table ends in an ellipsis, and what is read, copied and looked for stays the same text.
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
