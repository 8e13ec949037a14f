/** Levels of JSON that is taken from others: no honest text has as many, and what reads or writes it later recurses. */
export const mostLevels = 200

/** Whether arrays and objects of a JSON text are nested more than `limit` levels deep; counted without recursion. */
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

/** The place of the quote that ends the string which begins at `start`. */
function endOfString(json: string, start: number): number {
  let index = start + 1
  while (index < json.length && json[index] !== '"') index += json[index] === '\\' ? 2 : 1
  return index
}
