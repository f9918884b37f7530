// What the model's schema document means for a person: commands, their fields, and which kind of
// control each field wants. Pure; no element is made here.

/** "set_movement_speed" → "Set movement speed". */
export function humanName(name) {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_\-.]+/g, " ").trim().toLowerCase();
  return words ? words[0].toUpperCase() + words.slice(1) : name;
}

function resolve(schema, components) {
  const target = schema?.$ref?.split("/").pop();
  return target && components[target] ? { ...components[target], reference: target } : (schema ?? {});
}

function isUpload(schema) {
  return schema.reference === "ReactorUploadReference" || schema.format === "reactor-upload-reference";
}

/** Whether a file may stand somewhere inside a value of `raw`. */
export function holdsFiles(raw, components, seen = new Set()) {
  const schema = resolve(raw, components);
  if (isUpload(schema)) return true;
  if (schema.reference && seen.has(schema.reference)) return false;
  seen.add(schema.reference);
  const open = schema.additionalProperties;
  const inside = [...(schema.anyOf ?? schema.oneOf ?? []), ...Object.values(schema.properties ?? {}), ...(schema.prefixItems ?? [])];
  for (const each of [schema.items, open]) if (each && typeof each === "object") inside.push(each);
  return inside.some((each) => holdsFiles(each, components, seen));
}

/** A step that gives at least 100 positions: 1, 2 or 5 times a power of ten. */
export function sliderStep(low, high) {
  const raw = (high - low) / 100;
  if (!(raw > 0) || !Number.isFinite(raw)) return 1;
  const power = 10 ** Math.floor(Math.log10(raw * 1.0001));
  const nice = [5, 2, 1].find((factor) => factor * power <= raw * 1.0001);
  return Number((nice * power).toPrecision(6));
}

function kindOf(schema, components) {
  if (isUpload(schema)) return "file";
  if (Array.isArray(schema.enum)) return "choice";
  if (schema.type === "boolean") return "switch";
  if (schema.type === "number" || schema.type === "integer") {
    return Number.isFinite(schema.minimum) && Number.isFinite(schema.maximum) ? "slider" : "number";
  }
  if (schema.type === "string") return "text";
  if (schema.type === "array" && isUpload(resolve(schema.items, components))) return "files";
  return "json";
}

function withoutNull(schema, components) {
  const options = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(options)) return { inner: schema, nullable: false };
  const real = options.filter((option) => option.type !== "null");
  if (real.length !== 1 || real.length === options.length) return { inner: schema, nullable: false };
  return { inner: { ...schema, anyOf: undefined, ...resolve(real[0], components) }, nullable: true };
}

/**
 * One argument of a command:
 * `{name, label, description, kind, nullable, required, hasDefault, default, schema, …}` with
 * kind one of slider, number, switch, choice, text, file, files, json.
 */
export function readField(name, raw, required, components = {}) {
  const outer = resolve(raw, components);
  const { inner, nullable } = withoutNull(outer, components);
  const kind = kindOf(inner, components);
  const field = {
    name,
    label: humanName(name),
    description: outer.description ?? "",
    kind,
    nullable,
    required,
    hasDefault: Object.hasOwn(outer, "default"),
    default: outer.default,
    integer: inner.type === "integer",
    minimum: inner.minimum,
    maximum: inner.maximum,
    minLength: inner.minLength,
    maxLength: inner.maxLength,
    choices: kind === "choice" ? inner.enum.filter((choice) => choice !== null) : [],
    schema: inner,
    components,
  };
  if (kind === "slider") field.step = field.integer ? 1 : sliderStep(field.minimum, field.maximum);
  return field;
}

function readCommand(name, operation, components) {
  const content = operation.requestBody?.content?.["application/json"]?.schema ?? {};
  const schema = resolve(content, components);
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([key, value]) =>
    readField(key, value, required.has(key), components),
  );
  const isState = fields.length === 1 && name === `set_${fields[0].name}`;
  const summary = operation.description ?? operation.summary ?? "";
  return {
    name,
    label: humanName(isState ? fields[0].name : name),
    description: summary === `Trigger ${name}` ? "" : summary,
    kind: isState ? "state" : fields.length === 0 ? "button" : "form",
    fields,
  };
}

/** Which fields each message has, in the order of their declaration: it gets lost on the wire. */
function readMessages(document, components) {
  const found = new Map();
  for (const [name, item] of Object.entries(document.webhooks ?? {})) {
    const content = item.post?.requestBody?.content?.["application/json"]?.schema;
    found.set(name, Object.keys(resolve(content, components).properties ?? {}));
  }
  return found;
}

/**
 * Read a schema document: `{title, description, commands, messages}`. `messages` maps a name to the
 * names of its fields; a command is `{name, label, description, kind, fields}`
 * with kind "state" (a `set_<field>` of one field), "button" (no argument) or "form".
 */
export function readSchema(document) {
  const components = document.components?.schemas ?? {};
  const commands = Object.entries(document.paths ?? {})
    .filter(([path, item]) => path.startsWith("/events/") && item.post)
    .map(([path, item]) =>
      readCommand(item.post.operationId ?? path.slice("/events/".length), item.post, components),
    );
  return {
    title: document.info?.title ?? "",
    description: document.info?.description ?? "",
    commands,
    messages: readMessages(document, components),
  };
}

function typeMatches(value, type) {
  if (type === "integer") return Number.isInteger(value);
  if (type === "number") return typeof value === "number";
  if (type === "array") return Array.isArray(value);
  if (type === "object") return value !== null && typeof value === "object" && !Array.isArray(value);
  if (type === "null") return value === null;
  return typeof value === type; // eslint-disable-line valid-typeof -- string and boolean
}

const WHOLE = "The value"; // what is wrong where no place inside it is named
const ARTICLE = { integer: "a whole number", array: "a list", object: "an object", null: "null" };

function describe(type) {
  return ARTICLE[type] ?? `a ${type}`;
}

function checkInside(value, schema, components, where) {
  if (Array.isArray(value) && schema.items) {
    for (const [index, item] of value.entries()) {
      const problem = checkValue(item, schema.items, components, `${where}[${index}]`);
      if (problem) return problem;
    }
  }
  if (schema.type !== "object") return "";
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) return `${where || WHOLE} needs “${key}”`;
  }
  for (const [key, item] of Object.entries(value)) {
    const inner = schema.properties?.[key] ?? schema.additionalProperties;
    if (schema.properties && !inner) return `${where || WHOLE} has no field “${key}”`;
    const problem = inner ? checkValue(item, inner, components, where ? `${where}.${key}` : key) : "";
    if (problem) return problem;
  }
  return "";
}

/** What is wrong with `value`, in plain words, or "" when it fits; the server has the last word. */
export function checkValue(value, raw, components = {}, where = "") {
  const schema = resolve(raw, components);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) {
    const problems = options.map((option) => checkValue(value, option, components, where));
    return problems.includes("") ? "" : problems[0];
  }
  if (schema.enum && !schema.enum.includes(value)) {
    return `${where || WHOLE} must be one of ${schema.enum.map((choice) => JSON.stringify(choice)).join(", ")}`;
  }
  if (schema.type && !typeMatches(value, schema.type)) return `${where || WHOLE} must be ${describe(schema.type)}`;
  return checkInside(value, schema, components, where);
}
