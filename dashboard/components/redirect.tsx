// Navigates to another address, once. The router's own `Navigate` navigates again whenever its parent is rendered,
// and a layout is rendered while the next page loads: the two would loop for ever.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

export function Redirect({ to, search }: { to: string; search?: Record<string, string> }) {
  const navigate = useNavigate();
  const asked = useRef(search);
  useEffect(() => {
    void navigate({ to, ...(asked.current && { search: asked.current }), replace: true });
  }, [navigate, to]);
  return null;
}
