// The frame of the pages that need no session: one card in the middle.
import { Box, Center, Container, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { Logo } from "./logo.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

interface FrontProps {
  title: string;
  lead?: ReactNode;
  size?: number;
  children: ReactNode;
}

export function Front({ title, lead, size = 420, children }: FrontProps) {
  useEffect(() => {
    document.title = `${title} · Tollgate`;
  }, [title]);
  return (
    <Box mih="100dvh" component="main" style={{ display: "flex", flexDirection: "column" }}>
      <Group justify="space-between" p="md">
        <Logo />
        <ThemeSwitch />
      </Group>
      <Center style={{ flex: 1 }} pb={64}>
        <Container size={size} w="100%">
          <Paper withBorder p="xl" shadow="sm">
            <Stack gap="md">
              <div>
                <Title order={1}>{title}</Title>
                {lead !== undefined && (
                  <Text c="dimmed" size="sm" mt={4}>
                    {lead}
                  </Text>
                )}
              </div>
              {children}
            </Stack>
          </Paper>
        </Container>
      </Center>
    </Box>
  );
}
