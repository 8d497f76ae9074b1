/** The types of htm. */

import type { Child, Component, VNode } from "./preact.d.mts";

declare const htm: {
  bind(
    h: (type: string | Component, props: object | null, ...children: Child[]) => VNode,
  ): (parts: TemplateStringsArray, ...values: unknown[]) => VNode;
};
export default htm;
