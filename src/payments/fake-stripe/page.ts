// The fake's checkout page: states that no money moves, and lets a person pay or decline.
import type { Session } from "./account.ts";

export function checkoutPage(session: Session): Response {
  const amount = `$${(session.amount_total / 100).toFixed(2)}`;
  const open = session.status === "open";
  const body = open
    ? `<form method="post"><button name="do" value="pay">Pay ${amount}</button>
       <button name="do" value="decline">Decline the card</button></form>
       <p><a href="${escapeHtml(session.cancel_url)}">Go back without paying</a></p>`
    : `<p>This page was used already. <a href="${escapeHtml(session.success_url)}">Go back</a></p>`;
  return new Response(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
     <meta name="color-scheme" content="light dark"><title>Test payment</title>
     <style>body{font:1rem/1.5 system-ui;max-width:28rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}</style>
     <h1>Test payment of ${amount}</h1>
     <p>This is Tollgate's own test page. No card is asked for, and no money moves.</p>${body}</html>`,
    { headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" } },
  );
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
