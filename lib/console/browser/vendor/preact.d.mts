/** The types of what the console uses of Preact. */

/** Something to draw. */
export type VNode = { readonly type: unknown; readonly props: object; key: unknown };
/** What an element may contain. */
export type Child = VNode | string | number | boolean | null | undefined | readonly Child[] | { readonly value: unknown };
/** A component: its properties to what is drawn. */
export type Component = (props: never) => Child;
export function h(type: string | Component, props: object | null, ...children: Child[]): VNode;
export function render(child: Child, parent: object): void;
export const Fragment: Component;
