// Links inside the dashboard: real anchors, so that they open in a new tab, with the router's navigation on a click.
import { Anchor, type AnchorProps, Button, type ButtonProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, MouseEvent, ReactNode, Ref } from "react";

type Rest = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps> & {
  ref?: Ref<HTMLAnchorElement>;
  children?: ReactNode;
};

const PlainAnchor = (props: AnchorProps & Rest) => <Anchor {...props} />;
const PlainButton = (props: ButtonProps & Omit<Rest, keyof ButtonProps>) => (
  <Button component="a" {...props} />
);
const PlainTile = (props: AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }) => (
  <a {...props} />
);

export const Link = createLink(PlainAnchor);
export const ButtonLink = createLink(PlainButton);
/** To a file that the gateway makes: where it is refused, or nothing answers, the page stays. */
export const FileLink = ({ to, ...props }: ButtonProps & { to: string; children: ReactNode }) => (
  <Button component="a" href={to} download variant="default" {...props} />
);
/** An anchor without a look of its own. */
export const BareLink = createLink(PlainTile);

/** Of many in a table: it does not follow the address, so that none of them is drawn again when that changes. */
export const QuietLink = (to: { href: string; open: () => void; children: ReactNode }) => (
  <Anchor
    href={to.href}
    size="sm"
    fw={500}
    onClick={(event) => {
      if (!isPlain(event)) return;
      event.preventDefault();
      to.open();
    }}
  >
    {to.children}
  </Anchor>
);

/** A click that asks for no tab, no window and no download. */
const isPlain = ({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean =>
  button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
