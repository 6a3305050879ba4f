// Payments that arrive outside: a bank transfer, an invoice, a gift. An order waits until the operator
// confirms it with the reference of the money (operator/payments.ts); no webhook can confirm one.
import { type PaymentDriver, ServiceFailure, WebhookRefusal } from "./driver.ts";

export const manualDriver: PaymentDriver = {
  name: "manual",
  disputes: null,
  open: async () => ({ kind: "by_hand" }),
  read: async () => {
    throw new WebhookRefusal("This gateway takes no payment events; its operator confirms payments by hand.");
  },
  charge: async () => {
    throw new ServiceFailure("There is no card to charge: the operator confirms payments by hand.");
  },
  standing: async () => ({ kind: "void", reason: "There is no card to charge." }),
  withdraw: async () => ({ kind: "withdrawn" }),
  methodOf: async () => null,
  orderOf: async () => null,
};
