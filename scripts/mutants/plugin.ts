/**
 * Finds the places where a source can be mutated, with Deno's own parser: a plugin of `deno lint`, whose reports are
 * not faults but mutations. The message of each report is a {@linkcode Mutation} as JSON.
 *
 * Code without an effect on behaviour is left out: types, comments, log lines, texts of errors. It does not know the
 * tests.
 * @module
 */

/** The ways to break a line. */
export const KINDS = {
  comparison: "=== and !== exchanged",
  boundary: "< and <=, > and >= exchanged",
  condition: "a condition negated, or its ! removed",
  logical: "&& and || exchanged",
  boolean: "true and false exchanged",
  bound: "a number one larger: of a constant, in === and !==, in a call that cuts",
  call: "a statement that calls, removed",
  await: "a statement that awaits, removed",
  throw: "a throw removed",
  exit: "an early return, continue or break removed",
  early: "a function that returns at its beginning",
} as const;

/** One of {@linkcode KINDS}. */
export type Kind = keyof typeof KINDS;

/** A change of a source's text. */
export interface Mutation {
  /** The rule that made it. */
  readonly kind: Kind;
  /** The offset of the first character that is replaced. */
  readonly start: number;
  /** The offset after the last character that is replaced. */
  readonly end: number;
  readonly text: string;
}

/** A larger bound is not guaranteed exactly, so a number above this is not changed. */
const LARGEST_BOUND = 1_000;

const EXCHANGED: Readonly<Record<string, readonly [Kind, string]>> = {
  "===": ["comparison", "!=="],
  "!==": ["comparison", "==="],
  "<": ["boundary", "<="],
  "<=": ["boundary", "<"],
  ">": ["boundary", ">="],
  ">=": ["boundary", ">"],
  "&&": ["logical", "||"],
  "||": ["logical", "&&"],
};

/** Replaces a statement that is removed: the linter allows no empty statement after `if`. */
const NOTHING = "{}";

/** Calls whose only effect is a log line. */
const LOGS = /(?:^|\.|#)(?:log|logger|console|complain|warn)(?:\??\.\w+)?$/;

/** Calls whose arguments are positions. */
const CUTS = /\.(?:slice|subarray|substring|splice|at)$/;

/** The values that a function may return at its beginning, by its declared return type. */
const AT_ONCE: readonly (readonly [type: RegExp, values: readonly string[]])[] = [
  [/^(?:void|Promise<void>)$/, [""]],
  [/^(?:boolean|Promise<boolean>)$/, ["true", "false"]],
  [/(?:\| undefined|\| undefined>)$/, ["undefined"]],
];

type Node = Deno.lint.Node;
type Context = Deno.lint.RuleContext;
/** A node below the root of the tree. */
type Inner = Node & { readonly parent: Node };
type Functional = Deno.lint.FunctionDeclaration | Deno.lint.FunctionExpression | Deno.lint.ArrowFunctionExpression;

/** The rule: it reports every mutation of a file. */
const plugin: Deno.lint.Plugin = {
  name: "mutants",
  rules: { all: { create: visitor } },
};
export default plugin;

function visitor(context: Context): Deno.lint.LintVisitor {
  const source = context.sourceCode.text;
  const textOf = ({ range: [start, end] }: Node) => source.slice(start, end);
  const report = (kind: Kind, start: number, end: number, text: string, at: Node) => {
    if (!isLogOrErrorText(at, textOf)) {
      context.report({ range: [start, end], message: JSON.stringify({ kind, start, end, text } satisfies Mutation) });
    }
  };
  const replace = (kind: Kind, node: Node, text: string) => report(kind, ...node.range, text, node);

  /** The operator is searched between its operands, which may contain the same characters. */
  const exchange = (node: Deno.lint.BinaryExpression | Deno.lint.LogicalExpression) => {
    if (!Object.hasOwn(EXCHANGED, node.operator)) return;
    const [kind, other] = EXCHANGED[node.operator];
    const after = node.left.range[1];
    const start = after + source.slice(after, node.right.range[0]).indexOf(node.operator);
    if (node.operator !== "&&" && node.operator !== "||") {
      return report(kind, start, start + node.operator.length, other, node);
    }
    // Parentheses, because the other operator has another precedence.
    const side = (part: Node) => isLogical(part) ? `(${textOf(part)})` : textOf(part);
    const whole = isLogical(node.left) || isLogical(node.right)
      ? `${side(node.left)} ${other} ${side(node.right)}`
      : `${source.slice(node.range[0], start)}${other}${source.slice(start + 2, node.range[1])}`;
    report(kind, ...node.range, isLogical(node.parent) ? `(${whole})` : whole, node);
  };
  const negate = (test: Node | null) => {
    // Negated already, as a comparison or by the removal of its "!".
    if (test === null || isEquality(test) || isNegation(test)) return;
    if (test.type === "Literal") return;
    replace("condition", test, `!(${textOf(test)})`);
  };
  const answerAtOnce = (node: Functional) => {
    const declared = node.returnType?.typeAnnotation;
    if (node.body?.type !== "BlockStatement" || declared === undefined || node.body.body.length === 0) return;
    const values = AT_ONCE.find(([type]) => type.test(textOf(declared)))?.[1] ?? [];
    const [first] = node.body.body;
    for (const value of values) {
      const text = value === "" ? "return;" : `return ${value};`;
      if (textOf(first) !== text) report("early", first.range[0], first.range[0], `${text} `, first);
    }
  };

  return {
    BinaryExpression: exchange,
    LogicalExpression: exchange,
    IfStatement: ({ test }) => negate(test),
    ConditionalExpression: ({ test }) => negate(test),
    WhileStatement: ({ test }) => negate(test),
    DoWhileStatement: ({ test }) => negate(test),
    ForStatement: ({ test }) => negate(test),
    UnaryExpression: (node) => {
      if (node.operator === "!") replace("condition", node, textOf(node.argument));
    },
    Literal: (node) => {
      if (node.parent.type === "TSLiteralType") return;
      if (typeof node.value === "boolean") replace("boolean", node, String(!node.value));
      if (isSmall(node.value) && isBound(node, textOf)) {
        const octal = node.raw.startsWith("0o");
        replace("bound", node, octal ? `0o${(node.value + 1).toString(8)}` : String(node.value + 1));
      }
    },
    ExpressionStatement: (node) => {
      const { expression } = node;
      if (expression.type === "AwaitExpression") replace("await", node, NOTHING);
      if (isCall(expression) && !isSuper(expression)) replace("call", node, NOTHING);
    },
    ThrowStatement: (node) => replace("throw", node, NOTHING),
    ReturnStatement: (node) => {
      if (isExitOfIf(node)) replace("exit", node, NOTHING);
    },
    ContinueStatement: (node) => {
      if (isExitOfIf(node)) replace("exit", node, NOTHING);
    },
    BreakStatement: (node) => {
      if (isExitOfIf(node)) replace("exit", node, NOTHING);
    },
    FunctionDeclaration: answerAtOnce,
    FunctionExpression: answerAtOnce,
    ArrowFunctionExpression: answerAtOnce,
  };
}

function isSmall(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value <= LARGEST_BOUND;
}

/**
 * Whether the number `node` is the value of a constant, is compared for equality, or is a position in a cut. For `<`,
 * `<=`, `>` and `>=`, `boundary` is the off-by-one mutation.
 */
function isBound(node: Deno.lint.Literal, textOf: (node: Node) => string): boolean {
  const { parent } = node;
  if (parent.type === "VariableDeclarator" || parent.type === "PropertyDefinition" || parent.type === "Property") {
    return true;
  }
  if (parent.type === "CallExpression") return CUTS.test(textOf(parent.callee));
  return isEquality(parent);
}

function isEquality(node: Node): boolean {
  return node.type === "BinaryExpression" && (node.operator === "===" || node.operator === "!==");
}

function isNegation(node: Node): boolean {
  return node.type === "UnaryExpression" && node.operator === "!";
}

function isLogical(node: Node): boolean {
  return node.type === "LogicalExpression";
}

function isCall(node: Node): boolean {
  return node.type === "CallExpression" || node.type === "ChainExpression" && node.expression.type === "CallExpression";
}

/** Without `super()` no object can be created. */
function isSuper(node: Node): boolean {
  return node.type === "CallExpression" && node.callee.type === "Super";
}

/**
 * Whether `node` leaves a function or a loop before its end: it is the only or the last statement of an `if` without
 * `else`.
 */
function isExitOfIf(node: Inner): boolean {
  const { parent } = node;
  if (parent.type === "IfStatement") return parent.alternate === null;
  return parent.type === "BlockStatement" && parent.parent.type === "IfStatement" &&
    parent.parent.alternate === null && parent.body.at(-1)?.range[0] === node.range[0];
}

/** Whether `node` is part of a log line or of an error's text. */
function isLogOrErrorText(node: Node, textOf: (node: Node) => string): boolean {
  for (let at = node; at.type !== "Program"; at = (at as Inner).parent) {
    if (at.type === "ExpressionStatement" && isCall(at.expression)) {
      const call = at.expression.type === "ChainExpression" ? at.expression.expression : at.expression;
      if (call.type === "CallExpression" && LOGS.test(textOf(call.callee))) return true;
    }
    if (at.type === "NewExpression" && /Error$/.test(textOf(at.callee))) return true;
  }
  return false;
}
