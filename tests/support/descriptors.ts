/**
 * The open descriptors and threads of this process, from Linux's /proc.
 * @module
 */

/** The number of open descriptors. */
export function openDescriptors(): number {
  return [...Deno.readDirSync("/proc/self/fd")].length;
}

/** The names of worker threads: Deno's name, until our code names the thread. */
const WORKER = /^(worker-|MWorker-|Publisher|EventBus)/;

/** The thread ids of Deno's workers. */
export function workerThreads(): string[] {
  const name = (tid: string) => {
    try {
      return Deno.readTextFileSync(`/proc/self/task/${tid}/comm`);
    } catch {
      return ""; // the thread has ended meanwhile
    }
  };
  return [...Deno.readDirSync("/proc/self/task")].map((task) => task.name).filter((tid) => WORKER.test(name(tid)));
}
