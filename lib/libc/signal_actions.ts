/**
 * A signal that is caught once: afterwards it has the system's own effect again. A thread that computes runs no
 * listener, so this is how it sees that the signal has come, and how the second one ends the process without it.
 * Linux with the 64-bit layout of `struct sigaction` only; elsewhere every signal is caught as before.
 * Source: sigaction(2), signal(7).
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { check } from "./libc.ts";

const libc = cLibrary({ sigaction: { parameters: ["i32", "pointer", "buffer"], result: "i32" } } as const);

/** The numbers of the signals, the same on all of Linux's architectures. */
const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
/** A signal that ends commands. */
export type EndingSignal = keyof typeof NUMBERS;

/** The bytes of `struct sigaction`, and the place of its flags: behind the handler (8) and the mask (128). */
const LENGTH = 152, FLAGS_AT = 136;
/** The flag: the signal has its default effect again when it has been caught. */
const SA_RESETHAND = 0x8000_0000;

/** As errors and exit codes have it: 2 for SIGINT. */
export function signalNumber(signal: EndingSignal): number {
  return NUMBERS[signal];
}

/**
 * Makes the listener that a signal has its last one.
 * @throws {LibcError} If the system refuses.
 */
export function catchOnce(signal: EndingSignal): void {
  if (Deno.build.os !== "linux") return;
  const action = readAction(signal);
  const view = new DataView(action.buffer);
  view.setUint32(FLAGS_AT, view.getUint32(FLAGS_AT, true) | SA_RESETHAND, true);
  check("sigaction", libc().sigaction(NUMBERS[signal], Deno.UnsafePointer.of(action), null));
}

/** Whether the signal has its default effect: it has come since {@linkcode catchOnce}. */
export function isCaught(signal: EndingSignal): boolean {
  return Deno.build.os === "linux" && new DataView(readAction(signal).buffer).getBigUint64(0, true) === 0n;
}

function readAction(signal: EndingSignal): Uint8Array<ArrayBuffer> {
  const action = new Uint8Array(LENGTH);
  check("sigaction", libc().sigaction(NUMBERS[signal], null, action));
  return action;
}
