// Counts events in a window of time for each id. A window begins with its first event; ended windows are dropped.

interface Window {
  startedAtMs: number;
  counted: number;
}

export interface Counted {
  /** False if the window is full; the event was then not counted. */
  fits: boolean;
  left: number;
  /** Milliseconds until the window ends. */
  resetMs: number;
}

export class Windows {
  private readonly windows = new Map<string, Window>();

  /** `kept`: the most windows kept. Above it, ended windows are dropped, or the oldest one if none has ended. */
  constructor(private readonly limits: { most: number; windowMs: number; kept: number }) {}

  /** Whether one more event of `id` would be counted now. */
  fits(id: string, nowMs: number): boolean {
    return (this.running(id, nowMs)?.counted ?? 0) < this.limits.most;
  }

  /** Counts one more event of `id`, unless its window is full. */
  count(id: string, nowMs: number): Counted {
    const { most, windowMs } = this.limits;
    const window = this.running(id, nowMs) ?? this.begin(id, nowMs);
    const fits = window.counted < most;
    if (fits) window.counted += 1;
    return { fits, left: most - window.counted, resetMs: window.startedAtMs + windowMs - nowMs };
  }

  private running(id: string, nowMs: number): Window | null {
    const found = this.windows.get(id);
    return found !== undefined && nowMs - found.startedAtMs < this.limits.windowMs ? found : null;
  }

  private begin(id: string, nowMs: number): Window {
    if (this.windows.size >= this.limits.kept) this.forget(nowMs);
    const window = { startedAtMs: nowMs, counted: 0 };
    this.windows.delete(id); // begins again, at the end
    this.windows.set(id, window);
    return window;
  }

  private forget(nowMs: number): void {
    for (const [id, { startedAtMs }] of this.windows)
      if (nowMs - startedAtMs >= this.limits.windowMs) this.windows.delete(id);
    const [first] = this.windows.keys();
    if (first !== undefined && this.windows.size >= this.limits.kept) this.windows.delete(first);
  }
}
