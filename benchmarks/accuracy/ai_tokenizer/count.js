// Counts chats with ai-tokenizer: a chat in OpenAI's form a line in, {"ai-tokenizer": tokens} a line out.

import { createInterface } from "node:readline";
import { Tokenizer, models } from "ai-tokenizer";
import * as encodings from "ai-tokenizer/encoding";
import { count } from "ai-tokenizer/sdk";

// Models that it doesn't list and whose name is nearest to one of another vocabulary.
const NEAREST = { "gpt-3.5": "openai/gpt-4-turbo", "gpt-4-": "openai/gpt-4-turbo" };

const tokenizers = new Map();

function tokenizerOf(model) {
  if (!tokenizers.has(model.encoding)) {
    tokenizers.set(model.encoding, new Tokenizer(encodings[model.encoding]));
  }
  return tokenizers.get(model.encoding);
}

// The listed model whose name has the longest beginning in common with this one; of equals the shortest.
function nearest(name) {
  const bare = name.toLowerCase().replace(/^.*\//, "").replace(/^(us\.|eu\.|apac\.|global\.)?anthropic\./, "");
  const known = Object.keys(NEAREST).find((start) => bare.startsWith(start));
  if (known) return models[NEAREST[known]];
  const common = (key) => commonLength(plain(key.replace(/^.*\//, "")), plain(bare));
  const keys = Object.keys(models).sort((a, b) => common(b) - common(a) || a.length - b.length);
  return models[keys[0]];
}

const plain = (name) => name.replace(/[^a-z0-9]/g, "");

function commonLength(a, b) {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

// The message in the AI SDK's form.
function message({ role, content, tool_calls: calls = [], tool_call_id: id }) {
  if (role === "tool") {
    const output = { type: "text", value: content };
    return { role, content: [{ type: "tool-result", toolCallId: id, output }] };
  }
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  return { role, content: [...parts.map(part), ...calls.map(call)] };
}

const part = (value) => (value.type === "image_url" ? { type: "image" } : { type: "text", text: value.text ?? "" });

const call = ({ function: { name, arguments: given } }) => ({ type: "tool-call", toolName: name, input: input(given) });

// A model may write arguments that are no JSON.
function input(given) {
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

// It reads Zod's internals and nothing of a JSON schema: this shows it a schema as Zod would hold it,
// with every property required, since it looks into no optional one.
function zod(schema, root = schema, depth = 0) {
  const target = schema?.$ref && depth < 8 ? resolve(root, schema.$ref) : schema;
  const inner = (value) => zod(value, root, depth + 1);
  const described = { description: schema?.description ?? target?.description };
  if (target?.enum) return { ...described, _def: { type: "enum", values: target.enum } };
  if (target?.properties && depth < 8) {
    const shape = Object.entries(target.properties).map(([key, value]) => [key, inner(value)]);
    return { ...described, _def: { type: "object", shape: Object.fromEntries(shape) } };
  }
  if (target?.items && depth < 8) {
    return { ...described, _def: { type: "array", element: inner(target.items) } };
  }
  return { ...described, _def: { type: target?.type ?? "any" } };
}

function resolve(root, reference) {
  return reference.split("/").slice(1).reduce((value, key) => value?.[key], root);
}

function tokens({ model: name, messages, tools }) {
  const model = nearest(name);
  const declared = tools.map(({ function: { name, description, parameters } }) => [
    name,
    { description, inputSchema: zod(parameters) },
  ]);
  const given = { tokenizer: tokenizerOf(model), model, messages: messages.map(message) };
  return count({ ...given, tools: Object.fromEntries(declared) }).total;
}

for await (const line of createInterface({ input: process.stdin })) {
  let total = null;
  try {
    total = tokens(JSON.parse(line));
  } catch {
    // It has no number.
  }
  console.log(JSON.stringify({ "ai-tokenizer": total }));
}
