/** The types of what the console uses of Preact's hooks. */

export function useEffect(act: () => void | (() => void), inputs?: readonly unknown[]): void;
export function useLayoutEffect(act: () => void | (() => void), inputs?: readonly unknown[]): void;
export function useRef<T>(value: T): { current: T };
export function useState<T>(first: T | (() => T)): [T, (next: T | ((before: T) => T)) => void];
export function useMemo<T>(make: () => T, inputs: readonly unknown[]): T;
export function useId(): string;
