/** The name without control characters and halves of characters, which a database need not accept. */
export function storableName(name: string): string {
  return name
    .replace(/\p{Cc}/gu, '')
    .toWellFormed()
    .trim()
}
