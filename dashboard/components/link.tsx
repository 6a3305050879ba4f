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
/** A link to a file that the gateway makes: on a refusal, or without an answer, the page stays. */
export const FileLink = ({ to, ...props }: ButtonProps & { to: string; children: ReactNode }) => (
  <Button component="a" href={to} download variant="default" {...props} />
);
/** An unstyled anchor. */
export const BareLink = createLink(PlainTile);

/**
 * For the many links of a table: it does not depend on the address, so that it is not rendered again when that
 * changes.
 */
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

/** True for a click that asks for no tab, no window and no download. */
const isPlain = ({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean =>
  button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
