// Sends on to another address, once. The router's own `Navigate` goes again whenever its parent is drawn again, and a
// layout is drawn again while the next page loads: the two would chase each other for ever.
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
