// Links inside the dashboard: real anchors, so that they open in a new tab, with the router's navigation on a click.
import { Anchor, type AnchorProps, Button, type ButtonProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, ReactNode, Ref } from "react";

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
/** An anchor without a look of its own. */
export const BareLink = createLink(PlainTile);
