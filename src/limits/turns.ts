// A fair queue: organizations take turns, however much each of them has waiting. Within an organization, jobs run in the order of
// their arrival.

export interface TakesTurns {
  organizationId: string;
  /** Its weight while it waits. */
  bytes: number;
}

export class Turns<Job extends TakesTurns> {
  private readonly queues = new Map<string, { jobs: Job[]; bytes: number }>();
  private bytes = 0;

  /** Bytes that wait, of one organization or of all. */
  waiting(organizationId?: string): number {
    return organizationId === undefined ? this.bytes : (this.queues.get(organizationId)?.bytes ?? 0);
  }

  add(job: Job): void {
    const queue = this.queues.get(job.organizationId) ?? { jobs: [], bytes: 0 };
    this.queues.set(job.organizationId, queue);
    queue.jobs.push(job);
    queue.bytes += job.bytes;
    this.bytes += job.bytes;
  }

  /** Returns the next job, which stays queued, and moves its organization behind the others. */
  next(): Job | null {
    for (const [organizationId, queue] of this.queues) {
      this.queues.delete(organizationId);
      this.queues.set(organizationId, queue);
      return queue.jobs[0] ?? null;
    }
    return null;
  }

  /** Does nothing if the job has already been removed. */
  remove(job: Job): void {
    const queue = this.queues.get(job.organizationId);
    const place = queue?.jobs.indexOf(job) ?? -1;
    if (queue === undefined || place === -1) return;
    queue.jobs.splice(place, 1);
    queue.bytes -= job.bytes;
    this.bytes -= job.bytes;
    if (queue.jobs.length === 0) this.queues.delete(job.organizationId);
  }
}
