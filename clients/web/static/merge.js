// JSON merge patches (RFC 7396). What a patch does not touch stays the same object, so that a
// drawing can tell by `===` what has not changed.

export function merged(old, patch) {
  const result = { ...old };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else if (isObject(value)) result[name] = merged(isObject(old?.[name]) ? old[name] : {}, value);
    else result[name] = value;
  }
  return result;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
