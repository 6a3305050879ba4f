// The theme of the dashboard, light and dark. Every line here answers a finding of axe (docs/dashboard.md).
import {
  Button,
  createTheme,
  type CSSVariablesResolver,
  DEFAULT_THEME,
  Drawer,
  type MantineColorsTuple,
  Modal,
  Select,
} from "@mantine/core";

/** The original shades reach contrasts of 2.5–4.3 : 1 on white; shades 6–9 are replaced by one that reaches 4.5. */
const readable = (name: "green" | "teal" | "yellow" | "orange", shade: string): MantineColorsTuple => {
  const [a, b, c, d, e, f] = DEFAULT_THEME.colors[name];
  return [a, b, c, d, e, f, shade, shade, shade, shade];
};

export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily:
    "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace",
  headings: { fontWeight: "650", sizes: { h1: { fontSize: "1.5rem" }, h2: { fontSize: "1.05rem" } } },
  colors: {
    green: readable("green", "#1c7235"),
    teal: readable("teal", "#08705a"),
    yellow: readable("yellow", "#855600"),
    orange: readable("orange", "#a33c0b"),
  },
  components: {
    // Secondary actions are less prominent than the page's primary one.
    Button: Button.extend({
      styles: (_, { variant }) =>
        variant === "default" || variant === "subtle" ? { root: { fontWeight: 500 } } : {},
    }),
    // Only one icon at the end: two would cover a chip's text.
    Select: Select.extend({ defaultProps: { clearSectionMode: "clear" } }),
    Modal: Modal.extend({
      defaultProps: {
        closeButtonProps: { "aria-label": "Close" },
        attributes: { header: { role: "presentation" } },
        styles: { title: { fontWeight: 600, overflowWrap: "anywhere", minWidth: 0 } },
      },
    }),
    Drawer: Drawer.extend({
      defaultProps: {
        closeButtonProps: { "aria-label": "Close" },
        attributes: { header: { role: "presentation" } },
        styles: { title: { fontWeight: 600, overflowWrap: "anywhere", minWidth: 0 } },
      },
    }),
  },
});

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "#5c636a",
    "--mantine-color-error": "#c92a2a",
    "--mantine-color-placeholder": "#5c636a",
  },
  dark: {
    "--mantine-color-dimmed": "#a6a7ab",
    "--mantine-color-error": "#ff8787",
    "--mantine-color-placeholder": "#a6a7ab",
  },
});
