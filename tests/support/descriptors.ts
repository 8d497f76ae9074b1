/**
 * The open descriptors and threads of this process, from Linux's /proc.
 * @module
 */

/** How many descriptors are open. */
export function openDescriptors(): number {
  return [...Deno.readDirSync("/proc/self/fd")].length;
}

/** The names of such threads: Deno's own, until the thread has a name of ours. */
const WORKER = /^(worker-|MWorker-|Publisher|EventBus)/;

/** The threads that run a worker of Deno's, by their numbers in the system. */
export function workerThreads(): string[] {
  const name = (tid: string) => {
    try {
      return Deno.readTextFileSync(`/proc/self/task/${tid}/comm`);
    } catch {
      return ""; // it has ended meanwhile
    }
  };
  return [...Deno.readDirSync("/proc/self/task")].map((task) => task.name).filter((tid) => WORKER.test(name(tid)));
}
