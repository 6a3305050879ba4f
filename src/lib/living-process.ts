// Tells whether a process exists, by its pid.

/** Also true for another user's process, which this user may not signal. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** True if another process with this pid runs; in containers ours often has the pid of the one before. */
export const runsBeside = (pid: number): boolean => pid !== process.pid && isAlive(pid);
