/** True for input that some servers send before the real arguments, or instead: PHP writes `[]`. */
export function isPlaceholder(input: string): boolean {
  return input.length < 20 && /^\s*(\{\s*\}|\[\s*\]|null|"null"|""|"\{\}")\s*$/.test(input)
}

/** Max number of times that arguments can be encoded as a string. */
const maxEncodings = 3

/**
 * Returns the arguments as JSON, and repairs errors of models and servers: arguments encoded once more as a
 * string, or raw line ends within strings. Empty text stays empty; other placeholders become `{}`.
 */
export function readableInput(input: string): string {
  let json = withoutRawControls(input)
  for (let count = 0; count < maxEncodings && /^\s*"/.test(json); count += 1) {
    const inner = stringIn(json)
    if (inner === undefined || !/^\s*(["{]|null\s*$|$)/.test(inner)) break
    json = withoutRawControls(inner)
  }
  const isNothing = json.trim() === '' ? input.trim() !== '' : isPlaceholder(json)
  return isNothing ? '{}' : json
}

function stringIn(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** Max length of repaired arguments: longer ones would delay other requests. */
const maxMended = 200_000

/** Escapes control characters within strings; those between values are allowed. */
function withoutRawControls(json: string): string {
  if (json.length > maxMended || !/\p{Cc}/u.test(json)) return json
  let isInString = false
  return json.replaceAll(/\\.|"|\p{Cc}/gsu, token => {
    if (token === '"') isInString = !isInString
    return isInString && token.length === 1 && token !== '"' ? JSON.stringify(token).slice(1, -1) : token
  })
}
