/** Max levels of foreign JSON: no honest text has as many, and later readers and writers recurse. */
export const maxLevels = 200

/** The same limit of JSON that models write. */
export const maxModelLevels = 64

/** Returns true if a JSON text is nested more than `limit` levels deep, counted without recursion. */
export function isDeeperThan(limit: number, json: string): boolean {
  let depth = 0
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index]
    if (character === '"') index = endOfString(json, index)
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > limit) return true
  }
  return false
}

/** Returns the place of the quote that ends the string at `start`; native search is quick for long texts. */
export function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end === -1 ? json.length : end
}

function isEscaped(json: string, index: number): boolean {
  let backslashes = 0
  while (json[index - 1 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 1
}
