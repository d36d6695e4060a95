/**
 * Writes which functions the calls below a folder run, as the TypeScript compiler resolves them.
 *
 *     node scripts/bench/graph/witnesses/typescript.mjs ROOT COMPILER > WITNESS
 *
 * COMPILER is a folder of the npm package `typescript`. The rows are those that
 * `scripts/bench/graph/call_sites.py` reads. A call of type `any` is left out. One of a value that only
 * has a function's type runs nothing that is known: its target is null. A field runs the functions
 * that its class assigns to it.
 */

import { createRequire } from "node:module";
import { readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const [root, compiler] = process.argv.slice(2).map((each) => resolve(each));
const ts = createRequire(import.meta.url)(compiler);
const SOURCE = /\.[cm]?[jt]sx?$/;
const SKIPPED = new Set(["node_modules", ".git"]);

function* sources(folder) {
  for (const each of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, each.name);
    if (each.isDirectory() && !SKIPPED.has(each.name)) yield* sources(path);
    else if (each.isFile() && SOURCE.test(each.name)) yield path;
  }
}

const program = ts.createProgram([...sources(root)], {
  allowJs: true,
  jsx: ts.JsxEmit.Preserve,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.Preserve,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  strict: true,
  target: ts.ScriptTarget.ESNext,
  types: [],
});
const checker = program.getTypeChecker();

const isBelow = (file) => !relative(root, file.fileName).startsWith("..");
const lineOf = (file, position) => file.getLineAndCharacterOfPosition(position).line + 1;

/** Returns the text of a name; undefined for one that is computed. */
function text(name) {
  if (!name) return undefined;
  const isWritten =
    ts.isIdentifier(name) || ts.isPrivateIdentifier(name) || ts.isStringLiteralLike(name);
  return isWritten ? name.text : undefined;
}

/** Returns the name that an expression ends in. */
function lastName(node) {
  const inner = ts.skipOuterExpressions(node);
  return text(ts.isPropertyAccessExpression(inner) ? inner.name : inner);
}

/** Returns what a definition is called: a constructor as its class, a value as what it is given to. */
function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return nameOf(node.parent);
  let holder = node.parent;
  while (ts.isParenthesizedExpression(holder) || ts.isAsExpression(holder)) holder = holder.parent;
  const isValue = ts.isFunctionExpression(node) || ts.isArrowFunction(node) || ts.isClassExpression(node);
  if (isValue && ts.isBinaryExpression(holder)) return lastName(holder.left) ?? text(node.name);
  return (isValue && !ts.isCallExpression(holder) && text(holder.name)) || text(node.name);
}

/** Whether a node defines what is called, or declares a method of an interface or of a class. */
function isDefinition(node) {
  if (ts.isFunctionTypeNode(node) || ts.isConstructorTypeNode(node)) return false;
  if (ts.isCallSignatureDeclaration(node) || ts.isConstructSignatureDeclaration(node)) return false;
  return ts.isFunctionLike(node) || ts.isClassLike(node);
}

/** Returns the function or class that a declaration gives a name to. */
function definition(node) {
  if (isDefinition(node)) return node;
  const value = ts.isBinaryExpression(node) ? node.right : node.initializer;
  const inner = value && ts.skipOuterExpressions(value);
  return inner && isDefinition(inner) ? inner : undefined;
}

function symbolOf(callee) {
  const inner = ts.skipOuterExpressions(callee);
  const symbol = checker.getSymbolAtLocation(
    ts.isPropertyAccessExpression(inner) ? inner.name : inner,
  );
  const isAlias = symbol && symbol.flags & ts.SymbolFlags.Alias;
  return isAlias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** Returns the functions that a class assigns to a field which it only declares. */
function assigned(field) {
  if (!ts.isPropertyDeclaration(field) || field.initializer) return [];
  const found = [];
  const look = (node) => {
    const isOwn =
      ts.isBinaryExpression(node) &&
      ts.isPropertyAccessExpression(node.left) &&
      node.left.expression.kind === ts.SyntaxKind.ThisKeyword &&
      node.left.name.text === text(field.name);
    if (isOwn) found.push(node);
    ts.forEachChild(node, look);
  };
  look(field.parent);
  return found;
}

/** Returns the definitions that a call may mean: its signature, its overloads, its value. */
function definitions(callee, declaration) {
  const declared = symbolOf(callee)?.declarations ?? [];
  const own = [...declared, ...declared.flatMap(assigned)];
  const overloads = (declaration && declaration.symbol?.declarations) ?? [];
  const every = [declaration, ...overloads, ...own].filter(Boolean).map(definition).filter(Boolean);
  const isConstructor = every.some(ts.isConstructorDeclaration);
  return new Set(isConstructor ? every.filter((each) => !ts.isClassLike(each)) : every);
}

function* rows(file, node) {
  const callee = node.expression ?? node.tag;
  const signature = checker.getResolvedSignature(node);
  const declaration = signature?.getDeclaration?.() ?? undefined;
  const isKnown = declaration || ts.isNewExpression(node);
  const type = checker.getTypeAtLocation(callee);
  if (!isKnown || type.flags & ts.TypeFlags.Any) return;
  const site = { path: relative(root, file.fileName), line: lineOf(file, callee.getEnd() - 1) };
  const found = [...definitions(callee, declaration)];
  for (const each of found) {
    const home = each.getSourceFile();
    const target = isBelow(home)
      ? [relative(root, home.fileName), lineOf(home, each.getStart(home))]
      : null;
    if (nameOf(each)) yield { ...site, name: nameOf(each), target };
  }
  const name = lastName(callee);
  if (!found.length && name) yield { ...site, name, target: null };
}

function visit(file, node) {
  const isCall =
    ts.isCallExpression(node) || ts.isNewExpression(node) || ts.isTaggedTemplateExpression(node);
  if (isCall && node.expression?.kind !== ts.SyntaxKind.ImportKeyword)
    for (const row of rows(file, node)) console.log(JSON.stringify(row));
  ts.forEachChild(node, (child) => visit(file, child));
}

for (const file of program.getSourceFiles()) if (isBelow(file)) visit(file, file);
