// Watches what a gateway in this process sends to its reading thread, and can hold it back: as if one statement took long.
type Question = { text: string; values: readonly unknown[] };

export interface ReadingThread {
  /** The statements so far, in their order. */
  readonly asked: readonly Question[];
  /** From now on statements are kept back until `goOn`. */
  hold: () => void;
  goOn: () => void;
  /** Ends the watching. */
  stop(): void;
}

interface Gate extends Pick<ReadingThread, "hold" | "goOn"> {
  /** Sends now, or once what is held back goes on. */
  pass: (send: () => void) => void;
}

/** Statements go through it in their order. */
export function gate(): Gate {
  let kept: (() => void)[] | null = null;
  return {
    hold: () => void (kept ??= []),
    goOn: () => {
      const held = kept ?? [];
      kept = null;
      for (const send of held) send();
    },
    pass: (send) => void (kept === null ? send() : kept.push(send)),
  };
}

/** To be called before the gateway starts. */
export function watchReadingThread(): ReadingThread {
  const Thread = globalThis.Worker;
  const asked: Question[] = [];
  const { hold, goOn, pass } = gate();
  globalThis.Worker = class extends Thread {
    override postMessage(message: unknown): void {
      if (!isQuestion(message)) return super.postMessage(message);
      asked.push(message);
      pass(() => super.postMessage(message));
    }
  };
  return {
    asked,
    hold,
    goOn,
    stop: () => {
      goOn();
      globalThis.Worker = Thread;
    },
  };
}

const isQuestion = (message: unknown): message is Question =>
  typeof message === "object" && message !== null && "text" in message && "values" in message;
