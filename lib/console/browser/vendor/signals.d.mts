/** The types of what the console uses of signals in components. */

import type { Signal } from "./signals-core.d.mts";

export { batch, computed, effect, type Signal, signal, untracked } from "./signals-core.d.mts";
export function useSignal<T>(value: T): Signal<T>;
export function useComputed<T>(make: () => T): { readonly value: T };
