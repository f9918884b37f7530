// Which key works which command, decided from names alone. Pure; keyboard.js listens.

const NUDGE = 1 / 20; // of a slider's range
const RESERVED = ["m", "f", "s", "?", "Escape"];

const DIRECTIONS = [
  { words: ["left"], keys: ["ArrowLeft", "a"] },
  { words: ["right"], keys: ["ArrowRight", "d"] },
  { words: ["up", "forward", "forwards", "ahead"], keys: ["ArrowUp", "w"] },
  { words: ["down", "back", "backward", "backwards"], keys: ["ArrowDown", "s"] },
];
const NEUTRAL = ["none", "idle", "still", "stop", "stay", "neutral", "center", "centre", "straight", "hold"];
const NUDGED = [
  { words: ["turn", "steer", "steering", "yaw", "heading", "pan"], less: "ArrowLeft", more: "ArrowRight" },
  { words: ["speed", "throttle", "velocity", "zoom", "altitude", "pitch", "height"], less: "ArrowDown", more: "ArrowUp" },
];
const NAMED = [
  { words: ["reset", "restart"], key: "r" },
  { words: ["pause", "play", "resume", "freeze"], key: "p" },
  { words: ["jump", "fire", "act", "interact"], key: " " },
];

function wordsOf(name) {
  return String(name).toLowerCase().split(/[_\-\s.]+/);
}

function directionOf(name) {
  const words = wordsOf(name);
  return DIRECTIONS.findIndex((direction) => direction.words.some((word) => words.includes(word)));
}

function isDirectional(field) {
  const found = new Set(field.choices.map(directionOf).filter((index) => index >= 0));
  return found.size >= 2;
}

/** Commands that mean a direction, as `{direction, action}` in the order of the schema. */
function directional(commands) {
  const found = [];
  for (const command of commands) {
    const [field] = command.fields;
    const isChoice = command.fields.length === 1 && field.kind === "choice" && isDirectional(field);
    if (command.kind === "button" && directionOf(command.name) >= 0) {
      found.push({ direction: directionOf(command.name), action: { command, kind: "press", repeats: true, what: command.label } });
    } else if (isChoice) {
      const rest = field.choices.find((choice) => NEUTRAL.includes(String(choice).toLowerCase()));
      for (const choice of field.choices) {
        if (directionOf(choice) < 0) continue;
        const what = `${command.label}: ${choice}${rest === undefined ? "" : " (while held)"}`;
        const action = { command, kind: "set", value: choice, release: rest, repeats: rest === undefined, what };
        found.push({ direction: directionOf(choice), action });
      }
    }
  }
  return found;
}

class Keys {
  taken = new Map();

  bind(key, action) {
    if (this.taken.has(key)) return false;
    this.taken.set(key, { key, ...action });
    return true;
  }

  bindFirst(keys, action) {
    return keys.some((key) => !RESERVED.includes(key) && this.bind(key, action));
  }
}

function bindDirections(commands, keys) {
  const found = directional(commands);
  const bound = new Set();
  for (const [index, { keys: choices }] of DIRECTIONS.entries()) {
    const actions = found.filter(({ direction }) => direction === index).map(({ action }) => action);
    if (actions.length === 1) choices.forEach((key) => keys.bind(key, actions[0]));
    else actions.slice(0, choices.length).forEach((action, at) => keys.bind(choices[at], action));
  }
  for (const { command } of keys.taken.values()) bound.add(command.name);
  return bound;
}

/** Arrows that no command took move the sliders named after what arrows do. */
function bindSliders(commands, keys) {
  for (const { words, less, more } of NUDGED) {
    const command = commands.find(
      ({ kind, fields }) =>
        kind === "state" && fields[0].kind === "slider" && wordsOf(fields[0].name).some((word) => words.includes(word)),
    );
    if (!command || keys.taken.has(less) || keys.taken.has(more)) continue;
    const action = { command, kind: "nudge", repeats: true };
    keys.bind(less, { ...action, value: -NUDGE, what: `${command.label}: less` });
    keys.bind(more, { ...action, value: NUDGE, what: `${command.label}: more` });
  }
}

const letters = (name) => [...String(name).toLowerCase()].filter((letter) => /[a-z]/.test(letter));

/**
 * Give keys to the commands that a key press can carry. Returns
 * `[{key, command, kind, value?, release?, repeats?, what}]` with kind "press" (a button), "set" (a
 * choice, `release` is sent when the key goes up), "nudge" (a slider, by `value` of its range),
 * "toggle" (a switch) or "next" (the next choice).
 */
export function assignKeys(commands) {
  const keys = new Keys();
  const bound = bindDirections(commands, keys);
  bindSliders(commands, keys);
  for (const command of commands) {
    if (command.kind !== "button" || bound.has(command.name)) continue;
    const named = NAMED.find(({ words }) => words.some((word) => wordsOf(command.name).includes(word)));
    const digits = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"];
    keys.bindFirst([...(named ? [named.key] : []), ...digits], { command, kind: "press", what: command.label });
  }
  for (const command of commands) {
    if (command.kind !== "state" || bound.has(command.name)) continue;
    const [field] = command.fields;
    const action = { switch: "toggle", choice: "next" }[field.kind];
    const verb = action === "toggle" ? "on and off" : "next choice";
    if (action) keys.bindFirst(letters(field.name), { command, kind: action, what: `${command.label}: ${verb}` });
  }
  return [...keys.taken.values()];
}
