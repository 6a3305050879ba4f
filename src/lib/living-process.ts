// Whether a process is there, by its number.

/** One of somebody else's is there, too, though this user may not signal it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Whether another process of this number runs; in containers ours often has the number of the one before. */
export const runsBeside = (pid: number): boolean => pid !== process.pid && isAlive(pid);
