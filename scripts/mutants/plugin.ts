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
  conjunct: "one side of && or || left out",
  boolean: "true and false exchanged",
  bound: "a number one larger: of a constant, in === and !==, in a call that cuts",
  scale: "a bound or a time a thousand times as large",
  mode: "a file's mode or a umask that lets others read: 0o600 as 0o644",
  create: "createNew as create: a file that is there is opened",
  entry: "an option that limits, or a variable for another program, left out",
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
  /** Whether it takes away or widens a guard: a refusal, a mode, a bound, a time limit. */
  readonly guard: boolean;
}

/** A larger bound is not guaranteed exactly, so a number above this is not changed. */
const LARGEST_BOUND = 1_000;
/** How much larger `scale` makes a bound: what promises it must notice that. */
const SCALE = 1_000;

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

/** Calls that refuse, and those that keep others out. */
const GUARDS = /(?:^|[.#])(?:refuse|check|assert|require|ensure|verify|chmod|chown|fchmod|fchown|umask)\w*$/;

/** A value or a call by which a function refuses, or does nothing. */
const REFUSALS =
  /^(?:undefined|null|false|true|""|\[\]|\{\}|.*(?:refus|reject|fail|denie|error|lost|invalid|wrong).*)$/is;

/** Names of times: one millisecond more or less is no promise. */
const TIMES = /(?:_MS|_S|^ms|Ms|[tT]imeout)$/;

/** Options that limit what a call may do or how long, and names of variables. */
const LIMITS =
  /^(?:mode|ms|(?!at|mtime|ctime|due|now)\w+Ms|\w*[tT]imeout\w*|max\w*|\w*[lL]imit\w*|\w*Max|signal|redirect|clearEnv|env|nofollow|noFollow|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)$/;

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

/** Reports the mutations of one file. */
class Mutator {
  readonly source: string;
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
    this.source = context.sourceCode.text;
  }

  readonly textOf = ({ range: [start, end] }: Node): string => this.source.slice(start, end);

  report(kind: Kind, [start, end]: readonly [number, number], text: string, at: Node): void {
    if (isLogOrErrorText(at, this.textOf)) return;
    const mutation: Mutation = { kind, start, end, text, guard: isGuard(kind, at, this.textOf) };
    this.#context.report({ range: [start, end], message: JSON.stringify(mutation) });
  }

  replace(kind: Kind, node: Node, text: string): void {
    this.report(kind, node.range, text, node);
  }

  /** The operator is searched between its operands, which may contain the same characters. */
  exchange(node: Deno.lint.BinaryExpression | Deno.lint.LogicalExpression): void {
    if (!Object.hasOwn(EXCHANGED, node.operator)) return;
    const [kind, other] = EXCHANGED[node.operator];
    const after = node.left.range[1];
    const start = after + this.source.slice(after, node.right.range[0]).indexOf(node.operator);
    if (node.operator !== "&&" && node.operator !== "||") {
      return this.report(kind, [start, start + node.operator.length], other, node);
    }
    // Parentheses, because the other operator has another precedence.
    const side = (part: Node) => isLogical(part) ? `(${this.textOf(part)})` : this.textOf(part);
    const whole = isLogical(node.left) || isLogical(node.right)
      ? `${side(node.left)} ${other} ${side(node.right)}`
      : `${this.source.slice(node.range[0], start)}${other}${this.source.slice(start + 2, node.range[1])}`;
    this.replace(kind, node, isLogical(node.parent) ? `(${whole})` : whole);
  }

  /** Of `a && b && c`, which is `(a && b) && c`, each of the three is left out once. */
  leaveOut(node: Deno.lint.LogicalExpression): void {
    if (node.operator !== "&&" && node.operator !== "||") return;
    const keep = (side: Node) =>
      this.replace("conjunct", node, isLogical(side) ? `(${this.textOf(side)})` : this.textOf(side));
    keep(node.left);
    if (node.left.type !== "LogicalExpression" || node.left.operator !== node.operator) keep(node.right);
  }

  readonly negate = ({ test }: { readonly test: Node | null }): void => {
    // Negated already, as a comparison or by the removal of its "!".
    if (test === null || isEquality(test) || isNegation(test)) return;
    if (test.type === "Literal") return;
    this.replace("condition", test, `!(${this.textOf(test)})`);
  };

  readonly answerAtOnce = (node: Functional): void => {
    const declared = node.returnType?.typeAnnotation;
    if (node.body?.type !== "BlockStatement" || declared === undefined || node.body.body.length === 0) return;
    const values = AT_ONCE.find(([type]) => type.test(this.textOf(declared)))?.[1] ?? [];
    const [first] = node.body.body;
    for (const value of values) {
      const text = value === "" ? "return;" : `return ${value};`;
      if (this.textOf(first) !== text) this.report("early", [first.range[0], first.range[0]], `${text} `, first);
    }
  };

  /** A boolean, a mode or a number. */
  literal(node: Deno.lint.Literal): void {
    if (node.parent.type === "TSLiteralType") return;
    if (typeof node.value === "boolean" && !isCreateNew(node.parent, this.textOf)) {
      this.replace("boolean", node, String(!node.value));
    }
    const number = numberOf(node);
    if (number === undefined) return;
    if (node.raw.startsWith("0o")) {
      const open = openedBy(number, node.parent, this.textOf);
      if (open !== undefined) this.replace("mode", node, `0o${open.toString(8)}`);
    } else if (number >= LARGEST_BOUND || isTime(node.parent, this.textOf)) {
      if (number > 0 && isLimit(node)) this.replace("scale", node, `${node.raw} * ${SCALE}`);
    } else if (Number.isInteger(number) && isBound(node, this.textOf)) this.replace("bound", node, String(number + 1));
  }

  /** An entry of an object that limits something. */
  entry(node: Deno.lint.Property): void {
    if (node.parent.type !== "ObjectExpression") return;
    if (this.textOf(node) === "createNew: true") this.replace("create", node, "create: true");
    else if (LIMITS.test(this.textOf(node.key))) {
      this.report("entry", [node.range[0], afterComma(this.source, node.range[1])], "", node);
    }
  }

  readonly leave = (node: Inner): void => {
    if (isExitOfIf(node)) this.replace("exit", node, NOTHING);
  };
}

function visitor(context: Context): Deno.lint.LintVisitor {
  const mutator = new Mutator(context);
  const { negate, answerAtOnce, leave } = mutator;
  return {
    BinaryExpression: (node) => {
      mutator.exchange(node);
      if (isProduct(node) && !isProduct(node.parent) && isLimit(node)) {
        mutator.replace("scale", node, `${mutator.textOf(node)} * ${SCALE}`.replace(/^(.*<<.*) \*/, "($1) *"));
      }
    },
    LogicalExpression: (node) => {
      mutator.exchange(node);
      mutator.leaveOut(node);
    },
    Property: (node) => mutator.entry(node),
    IfStatement: negate,
    ConditionalExpression: negate,
    WhileStatement: negate,
    DoWhileStatement: negate,
    ForStatement: negate,
    UnaryExpression: (node) => {
      if (node.operator === "!") mutator.replace("condition", node, mutator.textOf(node.argument));
    },
    Literal: (node) => mutator.literal(node),
    ExpressionStatement: (node) => {
      const { expression } = node;
      if (expression.type === "AwaitExpression") mutator.replace("await", node, NOTHING);
      if (isCall(expression) && !isSuper(expression)) mutator.replace("call", node, NOTHING);
    },
    ThrowStatement: (node) => mutator.replace("throw", node, NOTHING),
    ReturnStatement: leave,
    ContinueStatement: leave,
    BreakStatement: leave,
    FunctionDeclaration: answerAtOnce,
    FunctionExpression: answerAtOnce,
    ArrowFunctionExpression: answerAtOnce,
  };
}

/** A decimal or octal number. The parser gives no value for one with `_` in it. */
function numberOf(node: Node): number | undefined {
  if (node.type !== "Literal" || !/^(?:0o)?[\d_.]+$/.test(node.raw)) return undefined;
  return Number(node.raw.replaceAll("_", ""));
}

/**
 * Whether `node` is the value of a constant, an option or an argument, or is compared: there it may limit something.
 */
function isLimit(node: Inner): boolean {
  const { parent } = node;
  if (parent.type === "BinaryExpression") return parent.operator in EXCHANGED;
  if (parent.type === "Property") return parent.value.range[0] === node.range[0];
  return ["VariableDeclarator", "PropertyDefinition", "CallExpression", "NewExpression", "AssignmentPattern"]
    .includes(parent.type);
}

/** Whether a value of this node is a time, by its name. */
function isTime(node: Node, textOf: (node: Node) => string): boolean {
  if (node.type === "VariableDeclarator") return TIMES.test(textOf(node.id));
  return (node.type === "Property" || node.type === "PropertyDefinition") && TIMES.test(textOf(node.key));
}

/** Whether `node` is a number that is written as a product of numbers: `5 * 60_000`, `2 ** 20`, `1 << 20`. */
function isProduct(node: Node): boolean {
  if (node.type !== "BinaryExpression" || !["*", "**", "<<"].includes(node.operator)) return false;
  return [node.left, node.right].every((side) => numberOf(side) !== undefined || isProduct(side));
}

/** The mode or umask with which others may read; `undefined` if the number is none, or others may already. */
function openedBy(number: number, parent: Node, textOf: (node: Node) => string): number | undefined {
  if (parent.type === "BinaryExpression") return undefined;
  if (parent.type === "CallExpression" && /\bumask$/.test(textOf(parent.callee))) {
    return (number & 0o077) === 0 ? undefined : 0;
  }
  if (number < 0o400 || number > 0o777 || (number & 0o077) !== 0) return undefined;
  return number | number >> 3 & 0o055 | number >> 6 & 0o005;
}

function isCreateNew(node: Node, textOf: (node: Node) => string): boolean {
  return node.type === "Property" && textOf(node) === "createNew: true";
}

/** The offset after the comma and the blanks behind an entry. */
function afterComma(source: string, end: number): number {
  return end + (/^\s*,[^\S\n]*/.exec(source.slice(end))?.[0].length ?? 0);
}

/**
 * Whether a mutation takes away or widens a guard: a mode, a bound or a time limit; the refusal of an `if`, or a part
 * of its condition; a part of what a predicate returns; a call that refuses or keeps others out.
 */
function isGuard(kind: Kind, node: Node, textOf: (node: Node) => string): boolean {
  switch (kind) {
    case "mode":
    case "create":
    case "entry":
    case "scale":
      return true;
    case "throw": // what only passes on an error of the system refuses nothing itself
      return node.type === "ThrowStatement" && node.argument.type !== "Identifier";
    case "bound":
      return ["VariableDeclarator", "PropertyDefinition", "Property"].includes((node as Inner).parent.type);
    case "exit":
      return isRefusal(node, textOf);
    case "call":
    case "await":
      return GUARDS.test(calleeOf(node, textOf));
    case "conjunct":
    case "boundary":
      return decidesRefusal(node as Inner, textOf);
    default:
      return false;
  }
}

/** The name of what an expression statement calls. */
function calleeOf(node: Node, textOf: (node: Node) => string): string {
  return textOf(node).replace(/^await\s+/, "").replace(/\(.*$/s, "");
}

/** Whether a statement leaves, and says nothing else than that it refuses. */
function isRefusal(node: Node, textOf: (node: Node) => string): boolean {
  if (node.type === "ReturnStatement") return node.argument === null || REFUSALS.test(textOf(node.argument));
  return ["ThrowStatement", "ContinueStatement", "BreakStatement"].includes(node.type);
}

/** Whether `node` is part of the condition of a refusal, or of what a predicate returns. */
function decidesRefusal(node: Inner, textOf: (node: Node) => string): boolean {
  let [at, above]: [Node, Node] = [node, node.parent];
  while (isLogical(above) || isNegation(above)) [at, above] = [above, (above as Inner).parent];
  if (above.type === "ReturnStatement") return isPredicate(above as Inner, textOf);
  if (above.type !== "IfStatement" || above.test.range[0] > at.range[0] || above.test.range[1] < at.range[1]) {
    return false;
  }
  const { consequent } = above;
  const last = consequent.type === "BlockStatement" ? consequent.body.at(-1) : consequent;
  return last !== undefined && isRefusal(last, textOf);
}

/** Whether the function around `node` says by its type that it returns whether something is so. */
function isPredicate(node: Inner, textOf: (node: Node) => string): boolean {
  for (let at: Node = node; at.type !== "Program"; at = (at as Inner).parent) {
    if (
      at.type !== "FunctionDeclaration" && at.type !== "FunctionExpression" && at.type !== "ArrowFunctionExpression"
    ) continue;
    const declared = at.returnType?.typeAnnotation;
    return declared !== undefined && /^(?:boolean|Promise<boolean>)$|^\w+ is /.test(textOf(declared));
  }
  return false;
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
 * Whether `node` leaves a function or a loop before its end: it is the only or the last statement of an `if` or
 * `else if`.
 */
function isExitOfIf(node: Inner): boolean {
  const { parent } = node;
  if (parent.type === "IfStatement") return parent.alternate?.range[0] !== node.range[0];
  return parent.type === "BlockStatement" && parent.parent.type === "IfStatement" &&
    parent.parent.alternate?.range[0] !== parent.range[0] && parent.body.at(-1)?.range[0] === node.range[0];
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
