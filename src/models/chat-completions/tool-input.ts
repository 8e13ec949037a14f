/** Sent by some servers before the real arguments, or for none: PHP writes `[]`. */
export function isPlaceholder(input: string): boolean {
  return input.length < 20 && /^\s*(\{\s*\}|\[\s*\]|null|"null"|""|"\{\}")\s*$/.test(input)
}

/** How often arguments may be encoded as a string. */
const maxEncodings = 3

/**
 * The arguments of a call as JSON, mended where models or servers break them: encoded once more as a string, or with raw
 * line ends within strings. Without arguments an empty text stays one, and other placeholders are `{}`.
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

/** Longer arguments are not mended: it would delay others. */
const maxMended = 200_000

/** Control characters within strings are escaped; those between values may stay. */
function withoutRawControls(json: string): string {
  if (json.length > maxMended || !/\p{Cc}/u.test(json)) return json
  let isInString = false
  return json.replaceAll(/\\.|"|\p{Cc}/gsu, token => {
    if (token === '"') isInString = !isInString
    return isInString && token.length === 1 && token !== '"' ? JSON.stringify(token).slice(1, -1) : token
  })
}
