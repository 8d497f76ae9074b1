/** The types of what the console uses of signals. */

/** A value that knows who reads it. */
export interface Signal<T> {
  value: T;
  peek(): T;
  subscribe(listener: (value: T) => void): () => void;
}
export function signal<T>(value: T): Signal<T>;
export function computed<T>(make: () => T): { readonly value: T; peek(): T };
export function effect(act: () => void | (() => void)): () => void;
export function batch<T>(act: () => T): T;
export function untracked<T>(act: () => T): T;
