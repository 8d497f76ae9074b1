/**
 * Where a source can be broken, found by Deno's own parser: a plugin of `deno lint`, whose reports are no faults but mutations.
 * The message of each is a {@linkcode Mutation} as JSON.
 *
 * What cannot change what a program does is left out: types, comments, lines of the log, texts of errors. Knows nothing of
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
  bound: "a number one larger: of a constant, in === and !==, where something is cut",
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
  /** Which rule made it. */
  readonly kind: Kind;
  /** The first character that is replaced. */
  readonly start: number;
  /** The character behind the last one. */
  readonly end: number;
  /** What is put there. */
  readonly text: string;
}

/** Nobody promises a bound of thousands to the one: such numbers stay as they are. */
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

/** What stands for a statement that is removed: an `if` may not have the empty statement. */
const NOTHING = "{}";

/** Calls whose only effect is a line of the log. */
const LOGS = /(?:^|\.|#)(?:log|logger|console|complain|warn)(?:\??\.\w+)?$/;

/** Calls whose arguments are places. */
const CUTS = /\.(?:slice|subarray|substring|splice|at)$/;

/** What a function may answer at once, by the type that it declares. */
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

  /** The operator is between its operands, which may hold the same characters. */
  const exchange = (node: Deno.lint.BinaryExpression | Deno.lint.LogicalExpression) => {
    if (!Object.hasOwn(EXCHANGED, node.operator)) return;
    const [kind, other] = EXCHANGED[node.operator];
    const after = node.left.range[1];
    const start = after + source.slice(after, node.right.range[0]).indexOf(node.operator);
    if (node.operator !== "&&" && node.operator !== "||") {
      return report(kind, start, start + node.operator.length, other, node);
    }
    // Brackets, for the other operator has another precedence.
    const side = (part: Node) => isLogical(part) ? `(${textOf(part)})` : textOf(part);
    const whole = isLogical(node.left) || isLogical(node.right)
      ? `${side(node.left)} ${other} ${side(node.right)}`
      : `${source.slice(node.range[0], start)}${other}${source.slice(start + 2, node.range[1])}`;
    report(kind, ...node.range, isLogical(node.parent) ? `(${whole})` : whole, node);
  };
  const negate = (test: Node | null) => {
    // Turned already, as a comparison or by the loss of its "!".
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

/** Whether the number `node` is named, compared for equality, or cuts something off. Of `<` and its like, `boundary` is the off-by-one. */
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

/** Without `super()` no object is made at all. */
function isSuper(node: Node): boolean {
  return node.type === "CallExpression" && node.callee.type === "Super";
}

/** Whether `node` leaves a function or a loop before its end: it is what an `if` without `else` does, or does last. */
function isExitOfIf(node: Inner): boolean {
  const { parent } = node;
  if (parent.type === "IfStatement") return parent.alternate === null;
  return parent.type === "BlockStatement" && parent.parent.type === "IfStatement" &&
    parent.parent.alternate === null && parent.body.at(-1)?.range[0] === node.range[0];
}

/** Whether `node` is part of a line of the log, or of an error's text. */
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
